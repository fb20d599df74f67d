package org.p4sched.onos.embedded.southbound;

import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import java.net.URI;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.onosproject.grpc.api.GrpcChannelController;

/**
 * The gRPC channels to the switches, by their management address ({@code grpc://HOST:PORT?device_id=N}, or {@code
 * grpcs:}).
 */
public final class GrpcChannels implements GrpcChannelController {
    /** gRPC's default of 4 MiB is too small for Read answers and for P4Info of large programs. */
    private static final int MAX_MESSAGE_BYTES = 256 << 20;
    /** The metadata of a failed Write has one error for each update. */
    private static final int MAX_METADATA_BYTES = 4 << 20;

    private final Map<URI, ManagedChannel> channels = new ConcurrentHashMap<>();

    @Override
    public ManagedChannel create(URI address) {
        ManagedChannelBuilder<?> builder = ManagedChannelBuilder.forAddress(address.getHost(), address.getPort());
        if ("grpc".equals(address.getScheme())) {
            builder.usePlaintext();
        }
        return create(address, builder);
    }

    @Override
    public ManagedChannel create(URI address, ManagedChannelBuilder<?> builder) {
        return channels.compute(address, (uri, existing) -> {
            if (existing != null) {
                throw new IllegalArgumentException("there is already a channel to " + uri);
            }
            return builder.maxInboundMessageSize(MAX_MESSAGE_BYTES)
                    .maxInboundMetadataSize(MAX_METADATA_BYTES)
                    .build();
        });
    }

    @Override
    public void destroy(URI address) {
        ManagedChannel channel = channels.remove(address);
        if (channel != null) {
            channel.shutdownNow();
        }
    }

    @Override
    public Optional<ManagedChannel> get(URI address) {
        return Optional.ofNullable(channels.get(address));
    }

    void deactivate() {
        channels.values().forEach(ManagedChannel::shutdownNow);
        channels.clear();
    }
}
