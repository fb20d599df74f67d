package org.p4sched.onos.embedded;

import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Hashtable;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.onlab.osgi.ServiceDirectory;
import org.onlab.osgi.ServiceNotFoundException;
import org.osgi.service.component.ComponentContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Services by their interface, and the components that provide them. They replace OSGi's declarative services.
 *
 * <p>A component that is added gets the present services in its fields of these types, and is activated. So components
 * are added after those that they need, and stopped in the reverse order.
 */
final class Components implements ServiceDirectory {
    private static final Logger log = LoggerFactory.getLogger(Components.class);

    private final Map<Class<?>, Object> services = new ConcurrentHashMap<>();
    private final Deque<Object> active = new ArrayDeque<>();

    /** Adds a component with its default properties. */
    <T> T add(T component) {
        return add(component, Map.of());
    }

    /** Adds a component with these properties, named as in {@code cfg set}. */
    <T> T add(T component, Map<String, String> properties) {
        for (Class<?> type = component.getClass(); type != Object.class; type = type.getSuperclass()) {
            inject(component, type);
        }
        boolean tookProperties = lifecycle(component, "activate", properties);
        if (!tookProperties && !properties.isEmpty()) {
            lifecycle(component, "modified", properties);
        }
        active.push(component);
        offerInterfaces(component, component.getClass());
        return component;
    }

    /** Provides an object that is not a component. */
    <T> void offer(Class<T> type, T service) {
        services.put(type, service);
    }

    /** Stops all components, the last one first. Logs a component that fails to stop, and continues. */
    void stop() {
        while (!active.isEmpty()) {
            Object component = active.pop();
            try {
                lifecycle(component, "deactivate", Map.of());
            } catch (IllegalStateException e) {
                log.warn("{}", e.getMessage(), e);
            }
        }
        services.clear();
    }

    @Override
    public <T> T get(Class<T> type) {
        Object service = services.get(type);
        if (service == null) {
            throw new ServiceNotFoundException("Service " + type.getName() + " not found");
        }
        return type.cast(service);
    }

    private void offerInterfaces(Object component, Class<?> type) {
        for (Class<?> offered : type.getInterfaces()) {
            services.putIfAbsent(offered, component);
            offerInterfaces(component, offered);
        }
        if (type.getSuperclass() != null) {
            offerInterfaces(component, type.getSuperclass());
        }
    }

    private void inject(Object component, Class<?> type) {
        for (Field field : type.getDeclaredFields()) {
            Object service = services.get(field.getType());
            int modifiers = field.getModifiers();
            if (service == null || Modifier.isStatic(modifiers) || Modifier.isFinal(modifiers)) {
                continue;
            }
            try {
                field.setAccessible(true);
                if (field.get(component) == null) {
                    field.set(component, service);
                }
            } catch (IllegalAccessException e) {
                throw new IllegalStateException("cannot set " + field, e);
            }
        }
    }

    /** Calls this method if the component has it; returns whether it took the properties. */
    private static boolean lifecycle(Object component, String name, Map<String, String> properties) {
        Optional<Method> result = method(component.getClass(), name);
        if (result.isEmpty()) {
            return false;
        }
        Method method = result.get();
        method.setAccessible(true);
        Object[] arguments = method.getParameterCount() == 0 ? new Object[0] : new Object[] {context(properties)};
        try {
            method.invoke(component, arguments);
            return arguments.length > 0;
        } catch (InvocationTargetException e) {
            throw new IllegalStateException(
                    "cannot " + name + " " + component.getClass().getName(), e.getCause());
        } catch (IllegalAccessException e) {
            throw new IllegalStateException("cannot call " + method, e);
        }
    }

    private static Optional<Method> method(Class<?> component, String name) {
        for (Class<?> type = component; type != Object.class; type = type.getSuperclass()) {
            for (Method method : type.getDeclaredMethods()) {
                boolean fits = method.getParameterCount() == 0
                        || (method.getParameterCount() == 1 && method.getParameterTypes()[0] == ComponentContext.class);
                if (method.getName().equals(name) && fits) {
                    return Optional.of(method);
                }
            }
        }
        return Optional.empty();
    }

    /**
     * A context with properties only; ONOS's components read nothing else. OSGi's type for properties is Dictionary.
     */
    @SuppressWarnings("JdkObsolete")
    private static ComponentContext context(Map<String, String> properties) {
        Class<?>[] type = {ComponentContext.class};
        return (ComponentContext)
                Proxy.newProxyInstance(Components.class.getClassLoader(), type, (self, method, arguments) -> {
                    if (method.getName().equals("getProperties")) {
                        return new Hashtable<>(properties);
                    }
                    throw new UnsupportedOperationException(method.toString());
                });
    }
}
