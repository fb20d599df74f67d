//! Random programs that use all features of the preprocessor, sometimes incorrectly.

/// Random numbers that are the same in every run (xorshift).
pub struct Random(u64);

impl Random {
    /// Random numbers of a case.
    pub fn new(seed: u64, case: u64) -> Random {
        Random((seed << 32 | case).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }

    fn name(&mut self) -> &'static str {
        self.pick(&["A", "B", "C", "F", "G", "H", "V", "x", "y", "ab", "hdr", "N"])
    }

    fn blank(&mut self) -> &'static str {
        match self.below(24) {
            0 => "",
            1 => "/* c */",
            2 => " /* A ' */ ",
            3 => "\\\n",
            4 => "\t",
            _ => " ",
        }
    }

    fn number(&mut self) -> &'static str {
        self.pick(&[
            "0", "1", "00", "0x0A", "8w0x1F", "16w", "4s7", "1_000", "2", "3", "0b101", "9",
        ])
    }

    fn operator(&mut self) -> &'static str {
        const OPERATORS: [&str; 38] = [
            "+", "-", "*", "/", "%", "&", "|", "^", "<", ">", "=", "!", "~", "?", ":", ";", ".", "..", "...", "++",
            "|+|", "|-|", "&&&", "&&", "||", "<<", ">>", "==", "<=", ">=", "{", "}", "[", "]", "@", "$", "->", "\\",
        ];
        self.pick(&OPERATORS)
    }

    fn literal(&mut self) -> &'static str {
        self.pick(&[
            "\"text A\"",
            "\"\"",
            "'a'",
            "\"a\\\"b\\\\\"",
            "'\\''",
            "\"/* A */\"",
            "\"@F(x)\"",
        ])
    }

    /// A random text; `depth` limits nested calls.
    fn piece(&mut self, depth: usize) -> String {
        match self.below(20) {
            0..=5 => self.name().to_owned(),
            6..=7 => self.number().to_owned(),
            8..=10 => self.operator().to_owned(),
            11 => self.literal().to_owned(),
            12 if depth > 0 => format!("({})", self.text(depth - 1, 3)),
            13 => self
                .pick(&[
                    "__LINE__",
                    "__FILE__",
                    "__COUNTER__",
                    "__INCLUDE_LEVEL__",
                    "__VA_ARGS__",
                    "__BASE_FILE__",
                ])
                .to_owned(),
            14 => self
                .pick(&["EMPTY", "LPAREN", ",", "#", "##", "defined", "_Pragma(\"x\")"])
                .to_owned(),
            _ if depth > 0 => self.call(depth - 1),
            _ => "z".to_owned(),
        }
    }

    fn call(&mut self, depth: usize) -> String {
        let name = self.pick(&["F", "G", "H", "V", "W", "K", "E"]);
        let wanted = match name {
            "F" | "K" => 1,
            "G" | "H" => 2,
            "V" | "W" => self.below(4),
            _ => 1,
        };
        let count = if self.one_in(40) { self.below(4) } else { wanted };
        let arguments: Vec<String> = (0..count)
            .map(|_| {
                let length = self.below(4);
                self.text(depth, length)
            })
            .collect();
        let blank = if self.one_in(12) {
            self.pick(&[" ", "\n", "/* c */", " EMPTY "])
        } else {
            ""
        };
        let close = if self.one_in(150) { "" } else { ")" };
        let comma = if self.one_in(10) { ",\n " } else { "," };
        format!("{name}{blank}({}{close}", arguments.join(comma))
    }

    fn text(&mut self, depth: usize, length: usize) -> String {
        let mut text = String::new();
        for _ in 0..length {
            text += &self.piece(depth);
            text += self.blank();
        }
        text
    }

    /// The body of a macro with these parameters.
    fn body(&mut self, parameters: &[&str]) -> String {
        let mut text = String::new();
        for i in 0..self.below(6) {
            if i > 0 && self.one_in(5) {
                text += self.pick(&["##", " ## ", " ##", "# ", " ## ## "]);
            }
            text += &match self.below(10) {
                0..=4 if !parameters.is_empty() => {
                    let hash = if self.one_in(5) { "#" } else { "" };
                    format!("{hash}{}", self.pick(parameters))
                }
                5 if parameters.contains(&"__VA_ARGS__") => {
                    let hash = if self.one_in(6) { "#" } else { "" };
                    let inner = self.pick(&["", ",", "x", "x y", ", __VA_ARGS__", "a ## b", "F(1)", "#a"]);
                    format!("{hash}__VA_OPT__({inner})")
                }
                6 if parameters.contains(&"__VA_ARGS__") => ", ## __VA_ARGS__".to_owned(),
                _ => self.piece(1).replace('\n', " "),
            };
            text += self.pick(&[" ", " ", "", "  ", " \\\n "]);
        }
        text
    }

    fn definition(&mut self) -> String {
        let (head, parameters): (&str, &[&str]) = match self.below(14) {
            0 => ("A", &[]),
            1 => ("B", &[]),
            2 => ("N", &[]),
            3 => ("F", &[]),
            4 | 5 => ("F(a)", &["a"]),
            6 => ("G(a,b)", &["a", "b"]),
            7 => ("H( a , x )", &["a", "x"]),
            8 => ("K(x)", &["x"]),
            9 => ("V(...)", &["__VA_ARGS__"]),
            10 => ("W(a, ...)", &["a", "__VA_ARGS__"]),
            11 => ("V(args...)", &["args"]),
            12 => ("W(a,args...)", &["a", "args", ", ##args"]),
            _ => (
                self.pick(&[
                    "E()", "EMPTY", "LPAREN", "C (x)", "1", "F(", "F(a", "F(a,a)", "G(1)", "defined", "F(a b)", "C+1",
                ]),
                &[],
            ),
        };
        let body = match head {
            "EMPTY" => String::new(),
            "LPAREN" => "(".to_owned(),
            _ => self.body(parameters),
        };
        format!("#{}define {head} {body}", self.pick(&["", "", " ", "/**/"]))
    }

    fn value(&mut self, depth: usize) -> String {
        const VALUES: [&str; 38] = [
            "0",
            "1",
            "2",
            "-1",
            "A",
            "B",
            "x",
            "1u",
            "0xFFFFFFFFFFFFFFFF",
            "9223372036854775807",
            "'a'",
            "'\\n'",
            "'ab'",
            "'\\377'",
            "'\\x41'",
            "0x10",
            "010",
            "3L",
            "4ull",
            "0b11",
            "defined A",
            "defined(F)",
            "defined ( x )",
            "F(1)",
            "G(1,2)",
            "__LINE__",
            "true",
            "__has_include(\"a.p4\")",
            "__has_include(<a.p4>)",
            "__has_include(\"none.p4\")",
            "__COUNTER__",
            "10",
            "64",
            "7",
            "(-9223372036854775807-1)",
            "__INCLUDE_LEVEL__",
            "defined __has_include",
            "18446744073709551616",
        ];
        const WRONG: [&str; 16] = [
            "8w1",
            "1.5",
            "08",
            "0x",
            "\"a\"",
            "",
            "defined",
            "defined(",
            "defined(A",
            "defined 1",
            "''",
            "1_0",
            "(",
            "__has_include",
            "@",
            "1lL",
        ];
        if self.one_in(50) {
            return self.pick(&WRONG).to_owned();
        }
        match self.below(8) {
            0 if depth > 0 => format!("({})", self.expression(depth - 1)),
            1 if depth > 0 => format!("{}{}", self.pick(&["!", "-", "~", "+", "- -"]), self.value(depth - 1)),
            _ => self.pick(&VALUES).to_owned(),
        }
    }

    fn expression(&mut self, depth: usize) -> String {
        const OPERATORS: [&str; 22] = [
            "+", "-", "*", "/", "%", "&", "|", "^", "<", ">", "<=", ">=", "==", "!=", "&&", "||", "<<", ">>", "==",
            "&&", "||", ",",
        ];
        let mut text = self.value(depth);
        for _ in 0..self.below(4) {
            text += &if depth > 0 && self.one_in(10) {
                format!(" ? {} : {}", self.value(depth - 1), self.value(depth - 1))
            } else {
                let operator = if self.one_in(60) {
                    self.pick(&["=", "?", ":", ")", "++"])
                } else {
                    self.pick(&OPERATORS)
                };
                format!(" {operator} {}", self.value(depth))
            };
        }
        text
    }

    fn opening(&mut self) -> String {
        match self.below(6) {
            0 => format!("#ifdef {}", self.name()),
            1 => format!("#ifndef {}", self.name()),
            2 => self
                .pick(&["#ifdef", "#ifndef 1", "#ifdef A B", "#if 0", "#if 1", "#ifdef __FILE__"])
                .to_owned(),
            _ => format!("#if {}", self.expression(2)),
        }
    }

    fn group(&mut self, depth: usize) -> String {
        let mut text = self.opening() + "\n" + &self.lines(depth, 3);
        for _ in 0..self.below(3) {
            text += &match self.below(4) {
                0 => format!("#elifdef {}\n", self.name()),
                1 => format!("#elifndef {}\n", self.name()),
                _ => format!("#elif {}\n", self.expression(1)),
            };
            text += &self.lines(depth, 2);
        }
        if self.one_in(2) {
            text += "#else\n";
            text += &self.lines(depth, 2);
        }
        if !self.one_in(60) {
            text += self.pick(&["#endif", "# endif // A", "#endif A", "#endif"]);
            text += "\n";
        }
        text
    }

    fn line(&mut self, depth: usize) -> String {
        const OTHERS: [&str; 26] = [
            "#",
            "# text A",
            "#name(x)",
            "#A",
            "#F(1",
            "# 12 \"other.p4\"",
            "#line 30",
            "#line 7 \"l.p4\"",
            "#line A",
            "#pragma once",
            "#pragma A F",
            "#ident \"x\"",
            "#ident x",
            "#sccs \"y\"",
            "#warning A",
            "// F( A",
            "/* A\n B */ C",
            "don't A",
            "'open A",
            "@pragma name \"x\" A\nA",
            "/\\\n/ A",
            "A /* x */ # define Q",
            "_Pragma(\"once\") A",
            "#pragma push_macro(\"A\")",
            "#pragma pop_macro(\"A\")",
            "@name(\"two A\nlines A\")",
        ];
        const RARE: [&str; 12] = [
            "#error A",
            "#else",
            "#endif",
            "#elif 1",
            "#include",
            "#include A",
            "#include \"no.p4\"",
            "/* open",
            "#undef",
            "#undef defined",
            "_Pragma(1)",
            "#line x",
        ];
        match self.below(40) {
            0..=9 => self.definition(),
            10..=11 => format!("#undef {}", self.name()),
            12..=14 if depth > 0 => self.group(depth - 1),
            15..=17 => self.pick(&OTHERS).to_owned(),
            18 => {
                let file = self.pick(&[
                    "\"a.p4\"",
                    "<a.p4>",
                    "<b.p4>",
                    "\"inc/c.p4\"",
                    "<d.p4>",
                    "<e.p4>",
                    "FILE",
                ]);
                let kind = self.pick(&["include", "include", "import", "include_next"]);
                format!("#define FILE <a.p4>\n#{kind} {file}\n#undef FILE")
            }
            19 if self.one_in(8) => self.pick(&RARE).to_owned(),
            _ => {
                let length = 1 + self.below(6);
                self.text(2, length)
            }
        }
    }

    /// At most `most` lines; `depth` limits nested groups.
    pub fn lines(&mut self, depth: usize, most: usize) -> String {
        (0..=self.below(most)).map(|_| self.line(depth) + "\n").collect()
    }
}
