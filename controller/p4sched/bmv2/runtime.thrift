// The runtime interface of BMv2's simple_switch, as far as simple_switch_CLI uses it.
// Names and numbers are those of the interface (behavioral-model, docs/runtime_CLI.md).

struct Exact { 1: binary key }
struct Lpm { 1: binary key, 2: i32 prefix_length }
struct Ternary { 1: binary key, 2: binary mask }
struct Valid { 1: bool key }
struct Range { 1: binary start, 2: binary end_ }
// `type` is 0 to 4 in this order.
struct MatchParam {
  1: i32 type, 2: optional Exact exact, 3: optional Lpm lpm, 4: optional Ternary ternary,
  5: optional Valid valid, 6: optional Range range
}
struct AddOptions { 1: optional i32 priority }
// `action_type`: nothing, an action, a member, a group.
struct ActionEntry {
  1: i32 action_type, 2: optional string action_name, 3: optional list<binary> action_data,
  4: optional i32 mbr_handle, 5: optional i32 grp_handle
}
struct Life { 1: i32 timeout_ms, 2: i32 time_since_hit_ms }
struct Entry {
  1: list<MatchParam> match_key, 2: AddOptions options, 3: i32 entry_handle, 4: ActionEntry action_entry,
  5: optional Life life
}
struct Member { 1: i32 mbr_handle, 2: string action_name, 3: list<binary> action_data }
struct Group { 1: i32 grp_handle, 2: list<i32> mbr_handles }
struct CounterValue { 1: i64 bytes, 2: i64 packets }
struct Rate { 1: double units_per_micros, 2: i32 burst_size }
struct PortInfo { 1: i32 port_num, 2: string iface_name, 3: bool is_up, 4: map<string, string> extra }
struct Crc16 {
  1: i16 polynomial, 2: i16 initial_remainder, 3: i16 final_xor_value, 4: bool data_reflected, 5: bool remainder_reflected
}
struct Crc32 {
  1: i32 polynomial, 2: i32 initial_remainder, 3: i32 final_xor_value, 4: bool data_reflected, 5: bool remainder_reflected
}
struct Config {
  1: i64 device_id, 2: i32 thrift_port, 3: optional string notifications_socket, 4: optional string elogger_socket,
  5: optional string debugger_socket
}

exception TableRefusal { 1: i32 code }
exception CounterRefusal { 1: i32 code }
exception MeterRefusal { 1: i32 code }
exception RegisterRefusal { 1: i32 code }
exception ValueSetRefusal { 1: i32 code }
exception SwapRefusal { 1: i32 code }
exception PortRefusal { 1: i32 code }
exception CrcRefusal { 1: i32 code }
exception MulticastRefusal { 1: i32 code }
exception MirroringRefusal { 1: i32 code }

service Standard {
  i64 bm_mt_get_num_entries(1: i32 cxt, 2: string table) throws (1: TableRefusal no),
  void bm_mt_clear_entries(1: i32 cxt, 2: string table, 3: bool reset_default_entry) throws (1: TableRefusal no),
  i32 bm_mt_add_entry(1: i32 cxt, 2: string table, 3: list<MatchParam> match_key, 4: string action,
    5: list<binary> data, 6: AddOptions options) throws (1: TableRefusal no),
  void bm_mt_set_default_action(1: i32 cxt, 2: string table, 3: string action, 4: list<binary> data)
    throws (1: TableRefusal no),
  void bm_mt_reset_default_entry(1: i32 cxt, 2: string table) throws (1: TableRefusal no),
  void bm_mt_delete_entry(1: i32 cxt, 2: string table, 3: i32 entry) throws (1: TableRefusal no),
  void bm_mt_modify_entry(1: i32 cxt, 2: string table, 3: i32 entry, 4: string action, 5: list<binary> data)
    throws (1: TableRefusal no),
  void bm_mt_set_entry_ttl(1: i32 cxt, 2: string table, 3: i32 entry, 4: i32 timeout_ms) throws (1: TableRefusal no),
  i32 bm_mt_indirect_add_entry(1: i32 cxt, 2: string table, 3: list<MatchParam> match_key, 4: i32 member,
    5: AddOptions options) throws (1: TableRefusal no),
  i32 bm_mt_indirect_ws_add_entry(1: i32 cxt, 2: string table, 3: list<MatchParam> match_key, 4: i32 group,
    5: AddOptions options) throws (1: TableRefusal no),
  void bm_mt_indirect_delete_entry(1: i32 cxt, 2: string table, 3: i32 entry) throws (1: TableRefusal no),
  void bm_mt_indirect_set_default_member(1: i32 cxt, 2: string table, 3: i32 member) throws (1: TableRefusal no),
  void bm_mt_indirect_ws_set_default_group(1: i32 cxt, 2: string table, 3: i32 group) throws (1: TableRefusal no),
  void bm_mt_indirect_reset_default_entry(1: i32 cxt, 2: string table) throws (1: TableRefusal no),
  list<Entry> bm_mt_get_entries(1: i32 cxt, 2: string table) throws (1: TableRefusal no),
  Entry bm_mt_get_entry(1: i32 cxt, 2: string table, 3: i32 entry) throws (1: TableRefusal no),
  Entry bm_mt_get_entry_from_key(1: i32 cxt, 2: string table, 3: list<MatchParam> match_key, 4: AddOptions options)
    throws (1: TableRefusal no),
  ActionEntry bm_mt_get_default_entry(1: i32 cxt, 2: string table) throws (1: TableRefusal no),
  CounterValue bm_mt_read_counter(1: i32 cxt, 2: string table, 3: i32 entry) throws (1: TableRefusal no),
  void bm_mt_write_counter(1: i32 cxt, 2: string table, 3: i32 entry, 4: CounterValue value) throws (1: TableRefusal no),
  void bm_mt_reset_counters(1: i32 cxt, 2: string table) throws (1: TableRefusal no),
  void bm_mt_set_meter_rates(1: i32 cxt, 2: string table, 3: i32 entry, 4: list<Rate> rates) throws (1: TableRefusal no),
  list<Rate> bm_mt_get_meter_rates(1: i32 cxt, 2: string table, 3: i32 entry) throws (1: TableRefusal no),

  i32 bm_mt_act_prof_add_member(1: i32 cxt, 2: string profile, 3: string action, 4: list<binary> data)
    throws (1: TableRefusal no),
  void bm_mt_act_prof_delete_member(1: i32 cxt, 2: string profile, 3: i32 member) throws (1: TableRefusal no),
  void bm_mt_act_prof_modify_member(1: i32 cxt, 2: string profile, 3: i32 member, 4: string action,
    5: list<binary> data) throws (1: TableRefusal no),
  i32 bm_mt_act_prof_create_group(1: i32 cxt, 2: string profile) throws (1: TableRefusal no),
  void bm_mt_act_prof_delete_group(1: i32 cxt, 2: string profile, 3: i32 group) throws (1: TableRefusal no),
  void bm_mt_act_prof_add_member_to_group(1: i32 cxt, 2: string profile, 3: i32 member, 4: i32 group)
    throws (1: TableRefusal no),
  void bm_mt_act_prof_remove_member_from_group(1: i32 cxt, 2: string profile, 3: i32 member, 4: i32 group)
    throws (1: TableRefusal no),
  list<Member> bm_mt_act_prof_get_members(1: i32 cxt, 2: string profile) throws (1: TableRefusal no),
  Member bm_mt_act_prof_get_member(1: i32 cxt, 2: string profile, 3: i32 member) throws (1: TableRefusal no),
  list<Group> bm_mt_act_prof_get_groups(1: i32 cxt, 2: string profile) throws (1: TableRefusal no),
  Group bm_mt_act_prof_get_group(1: i32 cxt, 2: string profile, 3: i32 group) throws (1: TableRefusal no),

  CounterValue bm_counter_read(1: i32 cxt, 2: string counter, 3: i32 index) throws (1: CounterRefusal no),
  void bm_counter_write(1: i32 cxt, 2: string counter, 3: i32 index, 4: CounterValue value)
    throws (1: CounterRefusal no),
  void bm_counter_reset_all(1: i32 cxt, 2: string counter) throws (1: CounterRefusal no),
  void bm_meter_array_set_rates(1: i32 cxt, 2: string meter, 3: list<Rate> rates) throws (1: MeterRefusal no),
  void bm_meter_set_rates(1: i32 cxt, 2: string meter, 3: i32 index, 4: list<Rate> rates) throws (1: MeterRefusal no),
  list<Rate> bm_meter_get_rates(1: i32 cxt, 2: string meter, 3: i32 index) throws (1: MeterRefusal no),
  i64 bm_register_read(1: i32 cxt, 2: string array, 3: i32 index) throws (1: RegisterRefusal no),
  list<i64> bm_register_read_all(1: i32 cxt, 2: string array) throws (1: RegisterRefusal no),
  void bm_register_write(1: i32 cxt, 2: string array, 3: i32 index, 4: i64 value) throws (1: RegisterRefusal no),
  void bm_register_reset(1: i32 cxt, 2: string array) throws (1: RegisterRefusal no),
  void bm_parse_vset_add(1: i32 cxt, 2: string value_set, 3: binary value) throws (1: ValueSetRefusal no),
  void bm_parse_vset_remove(1: i32 cxt, 2: string value_set, 3: binary value) throws (1: ValueSetRefusal no),
  list<binary> bm_parse_vset_get(1: i32 cxt, 2: string value_set) throws (1: ValueSetRefusal no),
  void bm_parse_vset_clear(1: i32 cxt, 2: string value_set) throws (1: ValueSetRefusal no),
  void bm_set_crc16_custom_parameters(1: i32 cxt, 2: string calculation, 3: Crc16 config) throws (1: CrcRefusal no),
  void bm_set_crc32_custom_parameters(1: i32 cxt, 2: string calculation, 3: Crc32 config) throws (1: CrcRefusal no),

  void bm_load_new_config(1: string config) throws (1: SwapRefusal no),
  void bm_swap_configs() throws (1: SwapRefusal no),
  void bm_dev_mgr_add_port(1: string interface_name, 2: i32 port, 3: string pcap) throws (1: PortRefusal no),
  void bm_dev_mgr_remove_port(1: i32 port) throws (1: PortRefusal no),
  list<PortInfo> bm_dev_mgr_show_ports() throws (1: PortRefusal no),
  Config bm_mgmt_get_info(),
  void bm_reset_state(),
  string bm_get_config(),
  binary bm_get_config_md5(),
}

service SimplePreLAG {
  i32 bm_mc_mgrp_create(1: i32 cxt, 2: i32 group) throws (1: MulticastRefusal no),
  void bm_mc_mgrp_destroy(1: i32 cxt, 2: i32 group) throws (1: MulticastRefusal no),
  i32 bm_mc_node_create(1: i32 cxt, 2: i32 rid, 3: string ports, 4: string lags) throws (1: MulticastRefusal no),
  void bm_mc_node_associate(1: i32 cxt, 2: i32 group, 3: i32 node) throws (1: MulticastRefusal no),
  void bm_mc_node_dissociate(1: i32 cxt, 2: i32 group, 3: i32 node) throws (1: MulticastRefusal no),
  void bm_mc_node_destroy(1: i32 cxt, 2: i32 node) throws (1: MulticastRefusal no),
  void bm_mc_node_update(1: i32 cxt, 2: i32 node, 3: string ports, 4: string lags) throws (1: MulticastRefusal no),
  void bm_mc_set_lag_membership(1: i32 cxt, 2: i16 lag, 3: string ports) throws (1: MulticastRefusal no),
  string bm_mc_get_entries(1: i32 cxt) throws (1: MulticastRefusal no),
}

struct Session { 1: optional i32 port, 2: optional i32 mgid }

service SimpleSwitch {
  void mirroring_session_add(1: i32 mirror, 2: Session config) throws (1: MirroringRefusal no),
  void mirroring_session_delete(1: i32 mirror) throws (1: MirroringRefusal no),
  Session mirroring_session_get(1: i32 mirror) throws (1: MirroringRefusal no),
  i32 set_egress_priority_queue_depth(1: i32 port, 2: i32 priority, 3: i32 packets),
  i32 set_egress_queue_depth(1: i32 port, 2: i32 packets),
  i32 set_all_egress_queue_depths(1: i32 packets),
  i32 set_egress_priority_queue_rate(1: i32 port, 2: i32 priority, 3: i64 packets_per_second),
  i32 set_egress_queue_rate(1: i32 port, 2: i64 packets_per_second),
  i32 set_all_egress_queue_rates(1: i64 packets_per_second),
  void set_port_rate(1: i32 port, 2: i64 bits_per_second),
  i64 get_port_rate(1: i32 port),
  i64 get_time_elapsed_us(),
  i64 get_time_since_epoch_us(),
}
