package org.p4sched.laws.record;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonFactoryBuilder;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.core.util.MinimalPrettyPrinter;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** JSON as Python's {@code json} reads and writes it: it refuses the same texts, and writes the same ones. */
public final class Json {
    /** Most levels of lists and objects; the logs of a controller have less than ten. */
    private static final int DEEPEST = 50;
    /** Most digits of a whole number that Python reads. */
    private static final int MOST_DIGITS = 4300;
    /** Most characters of a value in a message. */
    private static final int SHOWN = 60;

    private static final JsonFactory FACTORY = new JsonFactoryBuilder()
            .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
            .enable(JsonWriteFeature.ESCAPE_NON_ASCII)
            .build();

    private Json() {}

    /**
     * The value of a JSON text. Whole numbers are Long, or BigInteger if they are too large for it.
     *
     * @throws RecordException if the text is not JSON
     */
    public static Object parse(String text) {
        try (JsonParser parser = FACTORY.createParser(text)) {
            if (parser.nextToken() == null) {
                throw new RecordException("not JSON: no value");
            }
            Object value = value(parser, 0);
            if (parser.nextToken() != null) {
                throw new RecordException("not JSON: something follows the value, at column "
                        + parser.getTokenLocation().getColumnNr());
            }
            return value;
        } catch (JsonProcessingException error) {
            throw new RecordException("not JSON: " + error.getOriginalMessage() + ", at column "
                    + error.getLocation().getColumnNr());
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    private static Object value(JsonParser parser, int depth) throws IOException {
        if (depth >= DEEPEST) {
            throw new RecordException("nested deeper than " + DEEPEST + " levels");
        }
        switch (parser.currentToken()) {
            case START_OBJECT:
                Map<String, Object> object = new LinkedHashMap<>();
                while (parser.nextToken() != JsonToken.END_OBJECT) {
                    String name = parser.getCurrentName();
                    parser.nextToken();
                    object.put(name, value(parser, depth + 1));
                }
                return object;
            case START_ARRAY:
                List<Object> list = new ArrayList<>();
                while (parser.nextToken() != JsonToken.END_ARRAY) {
                    list.add(value(parser, depth + 1));
                }
                return list;
            case VALUE_NUMBER_INT:
                return whole(parser);
            case VALUE_NUMBER_FLOAT:
                return parser.getDoubleValue();
            case VALUE_TRUE:
                return true;
            case VALUE_FALSE:
                return false;
            case VALUE_NULL:
                return null;
            default:
                return parser.getText();
        }
    }

    private static Object whole(JsonParser parser) throws IOException {
        if (parser.getTextLength() > MOST_DIGITS) {
            throw new RecordException("not JSON that can be read: a number has thousands of digits");
        }
        BigInteger value = parser.getBigIntegerValue();
        return value.bitLength() < Long.SIZE ? (Object) value.longValue() : value;
    }

    /** The value in one line without spaces, as in a log. */
    public static String text(Object value) {
        return write(value, "", "");
    }

    /** The value for a message; a long one is cut off. */
    public static String abbreviated(Object value) {
        String text = write(value, " ", " ");
        return text.length() <= SHOWN ? text : text.substring(0, SHOWN) + "...";
    }

    private static String write(Object value, String afterComma, String afterColon) {
        StringWriter text = new StringWriter();
        try (JsonGenerator generator = FACTORY.createGenerator(text)) {
            generator.setPrettyPrinter(new Spaces(afterComma, afterColon));
            write(generator, value);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
        return text.toString();
    }

    private static void write(JsonGenerator generator, Object value) throws IOException {
        if (value instanceof Map) {
            generator.writeStartObject();
            for (Map.Entry<?, ?> entry : ((Map<?, ?>) value).entrySet()) {
                generator.writeFieldName(entry.getKey().toString());
                write(generator, entry.getValue());
            }
            generator.writeEndObject();
        } else if (value instanceof List) {
            generator.writeStartArray();
            for (Object item : (List<?>) value) {
                write(generator, item);
            }
            generator.writeEndArray();
        } else if (value instanceof Double) {
            generator.writeNumber(Numbers.repr((Double) value));
        } else if (value instanceof Number) {
            generator.writeNumber(value.toString());
        } else if (value instanceof Boolean) {
            generator.writeBoolean((Boolean) value);
        } else if (value == null) {
            generator.writeNull();
        } else {
            generator.writeString(value.toString());
        }
    }

    /** Printer of one line, with these spaces after commas and colons. */
    private static final class Spaces extends MinimalPrettyPrinter {
        private static final long serialVersionUID = 1;

        private final String afterComma;
        private final String afterColon;

        Spaces(String afterComma, String afterColon) {
            this.afterComma = afterComma;
            this.afterColon = afterColon;
        }

        @Override
        public void writeObjectFieldValueSeparator(JsonGenerator generator) throws IOException {
            generator.writeRaw(":" + afterColon);
        }

        @Override
        public void writeObjectEntrySeparator(JsonGenerator generator) throws IOException {
            generator.writeRaw("," + afterComma);
        }

        @Override
        public void writeArrayValueSeparator(JsonGenerator generator) throws IOException {
            generator.writeRaw("," + afterComma);
        }
    }
}
