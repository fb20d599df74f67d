package org.p4sched.onos.embedded.southbound;

import org.onosproject.net.pi.runtime.PiEntity;
import org.onosproject.net.pi.runtime.PiEntityType;
import org.onosproject.net.pi.runtime.PiHandle;
import org.onosproject.p4runtime.api.P4RuntimeWriteClient.EntityUpdateResponse;
import org.onosproject.p4runtime.api.P4RuntimeWriteClient.EntityUpdateStatus;
import org.onosproject.p4runtime.api.P4RuntimeWriteClient.UpdateType;

/** One update of a Write. It is pending until the switch answers. */
final class EntityUpdate implements EntityUpdateResponse {
    private final PiHandle handle;
    private final PiEntity entity;
    private final UpdateType type;
    private volatile EntityUpdateStatus status = EntityUpdateStatus.PENDING;
    private volatile String explanation;
    private volatile Throwable error;

    /** {@code entity} is null for a DELETE. */
    EntityUpdate(PiHandle handle, PiEntity entity, UpdateType type) {
        this.handle = handle;
        this.entity = entity;
        this.type = type;
    }

    void answered(EntityUpdateStatus newStatus, String newExplanation, Throwable newError) {
        explanation = newExplanation;
        error = newError;
        status = newStatus;
    }

    @Override
    public PiHandle handle() {
        return handle;
    }

    @Override
    public PiEntity entity() {
        return entity;
    }

    @Override
    public UpdateType updateType() {
        return type;
    }

    @Override
    public PiEntityType entityType() {
        return handle.entityType();
    }

    @Override
    public boolean isSuccess() {
        return status == EntityUpdateStatus.OK;
    }

    @Override
    public EntityUpdateStatus status() {
        return status;
    }

    @Override
    public String explanation() {
        return explanation;
    }

    @Override
    public Throwable throwable() {
        return error;
    }
}
