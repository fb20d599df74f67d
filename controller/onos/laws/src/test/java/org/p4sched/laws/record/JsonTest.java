package org.p4sched.laws.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigInteger;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JsonTest {
    @Test
    void valuesKeepTheirTypes() {
        assertEquals(
                Map.of("a", Arrays.asList(1L, -2L, 1.0, true, null, "x"), "b", Map.of()),
                Json.parse(" {\"a\": [1, -2, 1.0, true, null, \"x\"], \"b\": {}} "));
        assertEquals(9007199254740993L, Json.parse("9007199254740993"));
        assertEquals(new BigInteger("18446744073709551616"), Json.parse("18446744073709551616"));
        assertEquals(Double.NaN, Json.parse("NaN"));
        assertEquals(Double.NEGATIVE_INFINITY, Json.parse("-Infinity"));
        assertEquals(Double.POSITIVE_INFINITY, Json.parse("1e400"));
    }

    @Test
    void aTextHasNoSpacesAndOnlyAscii() {
        Object value = Json.parse("{\"a\": [1, 2.0, null], \"\u00b5\": true}");
        assertEquals("{\"a\":[1,2.0,null],\"\\u00B5\":true}", Json.text(value));
    }

    @Test
    void aLongValueIsCutOffInAMessage() {
        assertEquals("[1, {\"a\": 2}]", Json.abbreviated(List.of(1L, Map.of("a", 2L))));
        assertEquals("\"" + "x".repeat(59) + "...", Json.abbreviated("x".repeat(70)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "{", "[1,]", "{\"a\":1} 2", "01", "'a'", "nul", "{\"a\"}", "\"\u0001\""})
    void otherTextsAreRefused(String text) {
        String message =
                assertThrows(RecordException.class, () -> Json.parse(text)).getMessage();
        assertTrue(message.startsWith("not JSON: "), message);
    }

    @Test
    void whatIsTooDeepOrTooLongIsRefused() {
        assertEquals(50, Json.text(Json.parse("[".repeat(50) + "]".repeat(50))).length() / 2);
        for (int depth : new int[] {51, 100_000}) {
            RecordException error = assertThrows(RecordException.class, () -> Json.parse("[".repeat(depth)));
            assertEquals("nested deeper than 50 levels", error.getMessage());
        }
        assertThrows(RecordException.class, () -> Json.parse("9".repeat(5000)));
    }
}
