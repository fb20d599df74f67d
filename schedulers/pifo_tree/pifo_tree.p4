// A tree of PIFOs with two levels (Sivaraman et al., SIGCOMM 2016): tenants by weight, ranks within a tenant.
//
// The port is the tree. The program names the tenant's leaf and the rank of each packet.
#include <core.p4>
#include <v1model.p4>

#define TARGET_METADATA bit<16> leaf;
#include "include/lab.p4"
#include "include/rank.p4"
#include "include/carry_out.p4"
#include "include/egress.p4"

control PifoTreeIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    Forwarding() forwarding;
    Users() users;
    Rank() ranking;
    ReadLength() read_length;
    CarryOut() carry_out;
    ChargeFlow() charge_flow;

    bit<16> last_leaf;
    bit<32> length;

    //   tenants    users 1 to this number have a leaf of their own, all other traffic has that of user 1
    action set_pifo_tree(bit<16> tenants) {
        last_leaf = tenants;
    }
    table pifo_tree_params {
        key = { standard_metadata.egress_spec: exact; }
        actions = { set_pifo_tree; }
        default_action = set_pifo_tree(4);
        size = MAX_PORTS;
    }

    apply {
        forwarding.apply(hdr, meta, standard_metadata);
        if (!meta.discard) {
            users.apply(hdr, meta);
            ranking.apply(hdr, meta, standard_metadata);
            pifo_tree_params.apply();
            meta.leaf = (bit<16>) meta.user;
            if (meta.leaf == 0 || meta.leaf > last_leaf) {
                meta.leaf = 1;
            }
            standard_metadata.priority = 0;
            read_length.apply(standard_metadata.egress_spec, standard_metadata.priority, length);
            carry_out.apply(meta, standard_metadata, ADMITTED, length);
            charge_flow.apply(meta);
        }
    }
}

V1Switch(LabParser(), LabVerifyChecksum(), PifoTreeIngress(), RankedEgress(), LabComputeChecksum(), LabDeparser()) main;
