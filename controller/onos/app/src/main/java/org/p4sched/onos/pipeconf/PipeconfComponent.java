package org.p4sched.onos.pipeconf;

import static org.p4sched.onos.pipeconf.PipeconfComponent.FOLDER;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Dictionary;
import org.onlab.util.Tools;
import org.onosproject.cfg.ComponentConfigService;
import org.onosproject.net.pi.model.PiPipeconf;
import org.onosproject.net.pi.service.PiPipeconfService;
import org.osgi.service.component.ComponentContext;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Deactivate;
import org.osgi.service.component.annotations.Modified;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.annotations.ReferenceCardinality;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Registers the programs of the application and of a configured folder with ONOS. */
@Component(immediate = true, service = PipeconfComponent.class, property = FOLDER + "=")
public class PipeconfComponent {
    /** Property: folder of more programs, for example from a chip's compiler. */
    static final String FOLDER = "programFolder";

    private static final Logger LOG = LoggerFactory.getLogger(PipeconfComponent.class);

    @Reference(cardinality = ReferenceCardinality.MANDATORY)
    protected PiPipeconfService pipeconfService;

    @Reference(cardinality = ReferenceCardinality.MANDATORY)
    protected ComponentConfigService componentConfigService;

    private final Collection<PiPipeconf> registered = new ArrayList<>();
    private String programFolder = "";

    @Activate
    protected void activate(ComponentContext context) {
        componentConfigService.registerProperties(getClass());
        register(Pipeconfs.inApp());
        modified(context);
    }

    @Modified
    protected void modified(ComponentContext context) {
        Dictionary<?, ?> properties = context.getProperties();
        String folder = Tools.get(properties, FOLDER);
        if (folder == null || folder.isBlank() || folder.equals(programFolder)) {
            return;
        }
        programFolder = folder;
        try {
            register(Pipeconfs.inFolder(Path.of(folder)));
        } catch (IllegalArgumentException e) {
            LOG.error("{}", e.getMessage());
        }
    }

    @Deactivate
    protected void deactivate() {
        registered.forEach(pipeconf -> pipeconfService.unregister(pipeconf.id()));
        componentConfigService.unregisterProperties(getClass(), false);
    }

    private void register(Collection<PiPipeconf> pipeconfs) {
        for (PiPipeconf pipeconf : pipeconfs) {
            pipeconfService.register(pipeconf);
            registered.add(pipeconf);
        }
        LOG.info("{} programs registered", pipeconfs.size());
    }
}
