// Logarithms to the base 2, written by log2_entries.py: products of two fields become sums of logarithms.
//
// Fixed point with 16 bits of fraction. Only the first 8 bits of a number count: numbers below 256 are exact but for
// the rounding of the last bit, larger ones are taken for too small by less than 1/128 (0.78 %).

// Of 0: below what any sum of the others makes up for.
const bit<32> LOG2_OF_0 = -32w0x400000;

// Entries of a ternary table on 16 bits. `set` is the action that gets the logarithm.

// 2^first up to 2^(first+1). first: 7 .. 15.
#define LOG2_OCTAVE(set, first) \
    (16w128 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 0); \
    (16w129 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 736); \
    (16w130 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 1466); \
    (16w131 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 2190); \
    (16w132 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 2909); \
    (16w133 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 3623); \
    (16w134 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 4331); \
    (16w135 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 5034); \
    (16w136 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 5732); \
    (16w137 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 6425); \
    (16w138 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 7112); \
    (16w139 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 7795); \
    (16w140 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 8473); \
    (16w141 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 9146); \
    (16w142 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 9814); \
    (16w143 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 10477); \
    (16w144 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 11136); \
    (16w145 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 11791); \
    (16w146 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 12440); \
    (16w147 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 13086); \
    (16w148 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 13727); \
    (16w149 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 14363); \
    (16w150 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 14996); \
    (16w151 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 15624); \
    (16w152 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 16248); \
    (16w153 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 16868); \
    (16w154 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 17484); \
    (16w155 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 18096); \
    (16w156 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 18704); \
    (16w157 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 19308); \
    (16w158 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 19909); \
    (16w159 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 20505); \
    (16w160 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 21098); \
    (16w161 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 21687); \
    (16w162 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 22272); \
    (16w163 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 22854); \
    (16w164 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 23433); \
    (16w165 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 24007); \
    (16w166 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 24579); \
    (16w167 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 25146); \
    (16w168 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 25711); \
    (16w169 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 26272); \
    (16w170 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 26830); \
    (16w171 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 27384); \
    (16w172 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 27936); \
    (16w173 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 28484); \
    (16w174 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 29029); \
    (16w175 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 29571); \
    (16w176 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 30109); \
    (16w177 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 30645); \
    (16w178 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 31178); \
    (16w179 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 31707); \
    (16w180 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 32234); \
    (16w181 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 32758); \
    (16w182 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 33279); \
    (16w183 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 33797); \
    (16w184 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 34312); \
    (16w185 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 34825); \
    (16w186 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 35334); \
    (16w187 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 35841); \
    (16w188 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 36346); \
    (16w189 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 36847); \
    (16w190 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 37346); \
    (16w191 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 37842); \
    (16w192 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 38336); \
    (16w193 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 38827); \
    (16w194 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 39316); \
    (16w195 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 39802); \
    (16w196 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 40286); \
    (16w197 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 40767); \
    (16w198 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 41246); \
    (16w199 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 41722); \
    (16w200 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 42196); \
    (16w201 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 42667); \
    (16w202 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 43137); \
    (16w203 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 43603); \
    (16w204 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 44068); \
    (16w205 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 44530); \
    (16w206 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 44990); \
    (16w207 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 45448); \
    (16w208 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 45904); \
    (16w209 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 46357); \
    (16w210 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 46809); \
    (16w211 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 47258); \
    (16w212 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 47705); \
    (16w213 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 48150); \
    (16w214 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 48593); \
    (16w215 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 49034); \
    (16w216 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 49472); \
    (16w217 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 49909); \
    (16w218 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 50344); \
    (16w219 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 50776); \
    (16w220 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 51207); \
    (16w221 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 51636); \
    (16w222 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 52063); \
    (16w223 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 52488); \
    (16w224 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 52911); \
    (16w225 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 53332); \
    (16w226 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 53751); \
    (16w227 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 54169); \
    (16w228 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 54584); \
    (16w229 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 54998); \
    (16w230 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 55410); \
    (16w231 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 55820); \
    (16w232 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 56229); \
    (16w233 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 56635); \
    (16w234 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 57040); \
    (16w235 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 57443); \
    (16w236 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 57845); \
    (16w237 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 58245); \
    (16w238 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 58643); \
    (16w239 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 59039); \
    (16w240 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 59434); \
    (16w241 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 59827); \
    (16w242 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 60219); \
    (16w243 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 60609); \
    (16w244 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 60997); \
    (16w245 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 61384); \
    (16w246 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 61769); \
    (16w247 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 62152); \
    (16w248 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 62534); \
    (16w249 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 62915); \
    (16w250 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 63294); \
    (16w251 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 63671); \
    (16w252 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 64047); \
    (16w253 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 64421); \
    (16w254 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 64794); \
    (16w255 << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + 65166);

// 1 .. 255.
#define LOG2_ENTRIES_TO_255(set) \
    1 &&& 0xffff: set(0); \
    2 &&& 0xffff: set(65536); \
    3 &&& 0xffff: set(103872); \
    4 &&& 0xffff: set(131072); \
    5 &&& 0xffff: set(152170); \
    6 &&& 0xffff: set(169408); \
    7 &&& 0xffff: set(183983); \
    8 &&& 0xffff: set(196608); \
    9 &&& 0xffff: set(207744); \
    10 &&& 0xffff: set(217706); \
    11 &&& 0xffff: set(226717); \
    12 &&& 0xffff: set(234944); \
    13 &&& 0xffff: set(242512); \
    14 &&& 0xffff: set(249519); \
    15 &&& 0xffff: set(256042); \
    16 &&& 0xffff: set(262144); \
    17 &&& 0xffff: set(267876); \
    18 &&& 0xffff: set(273280); \
    19 &&& 0xffff: set(278392); \
    20 &&& 0xffff: set(283242); \
    21 &&& 0xffff: set(287855); \
    22 &&& 0xffff: set(292253); \
    23 &&& 0xffff: set(296456); \
    24 &&& 0xffff: set(300480); \
    25 &&& 0xffff: set(304340); \
    26 &&& 0xffff: set(308048); \
    27 &&& 0xffff: set(311616); \
    28 &&& 0xffff: set(315055); \
    29 &&& 0xffff: set(318373); \
    30 &&& 0xffff: set(321578); \
    31 &&& 0xffff: set(324678); \
    32 &&& 0xffff: set(327680); \
    33 &&& 0xffff: set(330589); \
    34 &&& 0xffff: set(333412); \
    35 &&& 0xffff: set(336153); \
    36 &&& 0xffff: set(338816); \
    37 &&& 0xffff: set(341407); \
    38 &&& 0xffff: set(343928); \
    39 &&& 0xffff: set(346384); \
    40 &&& 0xffff: set(348778); \
    41 &&& 0xffff: set(351113); \
    42 &&& 0xffff: set(353391); \
    43 &&& 0xffff: set(355616); \
    44 &&& 0xffff: set(357789); \
    45 &&& 0xffff: set(359914); \
    46 &&& 0xffff: set(361992); \
    47 &&& 0xffff: set(364026); \
    48 &&& 0xffff: set(366016); \
    49 &&& 0xffff: set(367966); \
    50 &&& 0xffff: set(369876); \
    51 &&& 0xffff: set(371748); \
    52 &&& 0xffff: set(373584); \
    53 &&& 0xffff: set(375385); \
    54 &&& 0xffff: set(377152); \
    55 &&& 0xffff: set(378887); \
    56 &&& 0xffff: set(380591); \
    57 &&& 0xffff: set(382264); \
    58 &&& 0xffff: set(383909); \
    59 &&& 0xffff: set(385525); \
    60 &&& 0xffff: set(387114); \
    61 &&& 0xffff: set(388677); \
    62 &&& 0xffff: set(390214); \
    63 &&& 0xffff: set(391727); \
    64 &&& 0xffff: set(393216); \
    65 &&& 0xffff: set(394682); \
    66 &&& 0xffff: set(396125); \
    67 &&& 0xffff: set(397547); \
    68 &&& 0xffff: set(398948); \
    69 &&& 0xffff: set(400328); \
    70 &&& 0xffff: set(401689); \
    71 &&& 0xffff: set(403030); \
    72 &&& 0xffff: set(404352); \
    73 &&& 0xffff: set(405656); \
    74 &&& 0xffff: set(406943); \
    75 &&& 0xffff: set(408212); \
    76 &&& 0xffff: set(409464); \
    77 &&& 0xffff: set(410700); \
    78 &&& 0xffff: set(411920); \
    79 &&& 0xffff: set(413125); \
    80 &&& 0xffff: set(414314); \
    81 &&& 0xffff: set(415488); \
    82 &&& 0xffff: set(416649); \
    83 &&& 0xffff: set(417795); \
    84 &&& 0xffff: set(418927); \
    85 &&& 0xffff: set(420046); \
    86 &&& 0xffff: set(421152); \
    87 &&& 0xffff: set(422245); \
    88 &&& 0xffff: set(423325); \
    89 &&& 0xffff: set(424394); \
    90 &&& 0xffff: set(425450); \
    91 &&& 0xffff: set(426495); \
    92 &&& 0xffff: set(427528); \
    93 &&& 0xffff: set(428550); \
    94 &&& 0xffff: set(429562); \
    95 &&& 0xffff: set(430562); \
    96 &&& 0xffff: set(431552); \
    97 &&& 0xffff: set(432532); \
    98 &&& 0xffff: set(433502); \
    99 &&& 0xffff: set(434462); \
    100 &&& 0xffff: set(435412); \
    101 &&& 0xffff: set(436353); \
    102 &&& 0xffff: set(437284); \
    103 &&& 0xffff: set(438206); \
    104 &&& 0xffff: set(439120); \
    105 &&& 0xffff: set(440025); \
    106 &&& 0xffff: set(440921); \
    107 &&& 0xffff: set(441809); \
    108 &&& 0xffff: set(442688); \
    109 &&& 0xffff: set(443560); \
    110 &&& 0xffff: set(444423); \
    111 &&& 0xffff: set(445279); \
    112 &&& 0xffff: set(446127); \
    113 &&& 0xffff: set(446967); \
    114 &&& 0xffff: set(447800); \
    115 &&& 0xffff: set(448626); \
    116 &&& 0xffff: set(449445); \
    117 &&& 0xffff: set(450256); \
    118 &&& 0xffff: set(451061); \
    119 &&& 0xffff: set(451859); \
    120 &&& 0xffff: set(452650); \
    121 &&& 0xffff: set(453435); \
    122 &&& 0xffff: set(454213); \
    123 &&& 0xffff: set(454985); \
    124 &&& 0xffff: set(455750); \
    125 &&& 0xffff: set(456510); \
    126 &&& 0xffff: set(457263); \
    127 &&& 0xffff: set(458010); \
    LOG2_OCTAVE(set, 7)

// 1 .. 65535.
#define LOG2_ENTRIES(set) \
    LOG2_ENTRIES_TO_255(set) \
    LOG2_OCTAVE(set, 8) \
    LOG2_OCTAVE(set, 9) \
    LOG2_OCTAVE(set, 10) \
    LOG2_OCTAVE(set, 11) \
    LOG2_OCTAVE(set, 12) \
    LOG2_OCTAVE(set, 13) \
    LOG2_OCTAVE(set, 14) \
    LOG2_OCTAVE(set, 15)

// Entries of an exact table on 1 .. 16. `set` gets the offset plus or minus the logarithm.
#define PLUS_LOG2_ENTRIES(set, offset) \
    1: set(offset + 32w0); \
    2: set(offset + 32w65536); \
    3: set(offset + 32w103872); \
    4: set(offset + 32w131072); \
    5: set(offset + 32w152170); \
    6: set(offset + 32w169408); \
    7: set(offset + 32w183983); \
    8: set(offset + 32w196608); \
    9: set(offset + 32w207744); \
    10: set(offset + 32w217706); \
    11: set(offset + 32w226717); \
    12: set(offset + 32w234944); \
    13: set(offset + 32w242512); \
    14: set(offset + 32w249519); \
    15: set(offset + 32w256042); \
    16: set(offset + 32w262144);
#define MINUS_LOG2_ENTRIES(set, offset) \
    1: set(offset - 32w0); \
    2: set(offset - 32w65536); \
    3: set(offset - 32w103872); \
    4: set(offset - 32w131072); \
    5: set(offset - 32w152170); \
    6: set(offset - 32w169408); \
    7: set(offset - 32w183983); \
    8: set(offset - 32w196608); \
    9: set(offset - 32w207744); \
    10: set(offset - 32w217706); \
    11: set(offset - 32w226717); \
    12: set(offset - 32w234944); \
    13: set(offset - 32w242512); \
    14: set(offset - 32w249519); \
    15: set(offset - 32w256042); \
    16: set(offset - 32w262144);

// The logarithm of a number of 16 bits.
control Log2(in bit<16> number, out bit<32> logarithm) {
    action set_logarithm(bit<32> value) {
        logarithm = value;
    }
    table logarithms {
        key = { number: ternary; }
        actions = { set_logarithm; }
        const default_action = set_logarithm(LOG2_OF_0);
        const entries = { LOG2_ENTRIES(set_logarithm) }
        size = 2048;
    }
    apply {
        logarithms.apply();
    }
}
