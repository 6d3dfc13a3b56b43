// Simulates one room in ns-3 3.36 to 3.37 (Debian: libns3-dev): reads a file that describes it, as
// `cargo run -p espbench-dot11 --example check -- --for-ns3 NAME SECONDS` prints it, and prints the counts
// as one line of JSON.
//
//   room FILE [RUN]
//
// The defaults of ns-3 are kept, with these exceptions: queues hold what a saturated sender needs and
// no frame expires there (else its source runs dry); A-MPDUs are as long as the room says; a unicast
// frame is sent seven times at most, whatever its length. An MPDU of n octets is a payload of n - 36: LLC/SNAP 8, MAC header 24, FCS 4
// (with QoS 2 more).
#include "ns3/core-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/propagation-module.h"
#include "ns3/wifi-module.h"

#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <sys/resource.h>
#include <vector>

using namespace ns3;

struct Link {
    uint32_t from, to;
    double dbm;
};

struct Description {
    std::string name, standard, mode;
    double seconds = 10, rate = 0, everywhere = NAN;
    uint32_t stations = 0, first = 0, octets = 0, ampdu = 0;
    bool group = true, capture = false;
    int64_t airtimeNs = 0;
    std::map<uint32_t, int> channel;
    std::vector<Link> links;
};

static Description Read(std::istream& in) {
    Description it;
    std::string word;
    while (in >> word) {
        if (word == "name") in >> it.name;
        else if (word == "seconds") in >> it.seconds;
        else if (word == "standard") in >> it.standard;
        else if (word == "stations") in >> it.stations;
        else if (word == "first") in >> it.first;
        else if (word == "group") in >> it.group;
        else if (word == "octets") in >> it.octets;
        else if (word == "rate") in >> it.rate;
        else if (word == "mode") in >> it.mode;
        else if (word == "airtime_ns") in >> it.airtimeNs;
        else if (word == "ampdu") in >> it.ampdu;
        else if (word == "capture") in >> it.capture;
        else if (word == "everywhere") in >> it.everywhere;
        else if (word == "channel") {
            uint32_t station;
            in >> station;
            in >> it.channel[station];
        } else if (word == "link") {
            Link link;
            in >> link.from >> link.to >> link.dbm;
            it.links.push_back(link);
        } else {
            std::cerr << "what is '" << word << "'?\n";
            exit(2);
        }
    }
    return it;
}

// What is counted, by the same rules as in espbench_dot11::check::run.
struct Counts {
    uint64_t sent = 0, overlapped = 0, received = 0, givenUp = 0, finished = 0;
    int64_t end[15] = {};
    uint64_t together[15] = {};
    // When the last one began, and whose it was: an A-MPDU is told once for each of its MPDUs.
    int64_t began = -1;
    uint32_t station = 0;
};
static Counts g;
static Description d;

static void Began(uint32_t station, Ptr<const Packet> packet, double) {
    if (packet->GetSize() <= 32) return; // an ACK or a block acknowledgement
    int channel = d.channel[station];
    int64_t now = Simulator::Now().GetNanoSeconds();
    g.sent++;
    if (now == g.began && station == g.station) return;
    g.began = now;
    g.station = station;
    if (now >= g.end[channel]) g.together[channel] = 0;
    uint64_t n = ++g.together[channel];
    g.overlapped += n == 1 ? 0 : n == 2 ? 2 : 1;
    g.end[channel] = std::max(g.end[channel], now + d.airtimeNs);
}
static bool Received(Ptr<NetDevice>, Ptr<const Packet>, uint16_t, const Address&) {
    g.received++;
    return true;
}
static void Dropped(WifiMacDropReason why, Ptr<const WifiMpdu>) {
    if (why == WIFI_MAC_DROP_REACHED_RETRY_LIMIT) {
        g.givenUp++;
        g.finished++;
    }
}
static void Acked(Ptr<const WifiMpdu>) { g.finished++; }

static void Arrive(Ptr<WifiNetDevice> device, Address to, uint32_t payload,
                   Ptr<ExponentialRandomVariable> wait) {
    device->Send(Create<Packet>(payload), to, 0x0800);
    Simulator::Schedule(Seconds(wait->GetValue()), &Arrive, device, to, payload, wait);
}

static Ptr<PropagationLossModel> Loss(NodeContainer nodes) {
    if (!std::isnan(d.everywhere)) {
        auto loss = CreateObject<FixedRssLossModel>();
        loss->SetRss(d.everywhere);
        return loss;
    }
    // YansWifiPhy sends with 16.0206 dBm.
    auto loss = CreateObject<MatrixPropagationLossModel>();
    loss->SetDefaultLoss(1000);
    for (auto& link : d.links)
        loss->SetLoss(nodes.Get(link.from)->GetObject<MobilityModel>(),
                      nodes.Get(link.to)->GetObject<MobilityModel>(), 16.0206 - link.dbm, false);
    return loss;
}

static NetDeviceContainer Install(NodeContainer nodes, Ptr<YansWifiChannel> air) {
    NetDeviceContainer devices;
    for (uint32_t i = 0; i < nodes.GetN(); i++) {
        YansWifiPhyHelper phy;
        phy.SetChannel(air);
        if (d.capture) phy.SetFrameCaptureModel("ns3::SimpleFrameCaptureModel");
        int width = d.standard == "B" ? 22 : 20;
        phy.Set("ChannelSettings", StringValue("{" + std::to_string(d.channel[i]) + ", " +
                                               std::to_string(width) + ", BAND_2_4GHZ, 0}"));
        bool edca = d.standard == "N" || d.standard == "Ax";
        WifiHelper wifi;
        wifi.SetStandard(d.standard == "B"   ? WIFI_STANDARD_80211b
                         : d.standard == "G" ? WIFI_STANDARD_80211g
                                             : d.standard == "N" ? WIFI_STANDARD_80211n
                                             : WIFI_STANDARD_80211ax);
        wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode",
                                     StringValue(d.mode), "ControlMode",
                                     StringValue(edca ? "ErpOfdmRate24Mbps" : d.mode),
                                     "NonUnicastMode",
                                     StringValue(edca ? "ErpOfdmRate6Mbps" : d.mode));
        WifiMacHelper mac;
        if (edca)
            mac.SetType("ns3::AdhocWifiMac", "QosSupported", BooleanValue(true), "BE_MaxAmpduSize",
                        UintegerValue(d.ampdu), "BE_MaxAmsduSize", UintegerValue(0));
        else
            mac.SetType("ns3::AdhocWifiMac", "QosSupported", BooleanValue(false));
        devices.Add(wifi.Install(phy, mac, nodes.Get(i)));
        // The slot of a network whose stations all know it, without the beacons of one.
        if (edca)
            DynamicCast<WifiNetDevice>(devices.Get(i))->GetPhy()->SetSlot(MicroSeconds(9));
    }
    return devices;
}

static void Fill(Ptr<WifiNetDevice> device, Address to, uint32_t payload, uint32_t frames) {
    for (uint32_t k = 0; k < frames; k++) device->Send(Create<Packet>(payload), to, 0x0800);
}

int main(int argc, char** argv) {
    std::ifstream file(argc > 1 ? argv[1] : "");
    d = Read(file);
    if (d.stations == 0) {
        std::cerr << "usage: room FILE [RUN]\n";
        return 2;
    }
    RngSeedManager::SetRun(argc > 2 ? atoi(argv[2]) : 1);
    // A station may have the medium for itself; more than that it cannot send. In an A-MPDU a frame
    // takes its payload's time alone, which at fast rates is half of what it takes by itself.
    double most = d.seconds * 1e9 / (d.ampdu ? d.airtimeNs * 0.4 : d.airtimeNs + 50e3);
    std::map<int, uint32_t> on;
    for (auto& it : d.channel) on[it.second]++;
    uint32_t senders = (d.stations - d.first) / on.size();
    auto frames = uint32_t(std::min(most, std::max(most * 2 / senders, d.seconds * 40))) + 60;
    Config::SetDefault("ns3::WifiRemoteStationManager::MaxSsrc", UintegerValue(7));
    Config::SetDefault("ns3::WifiRemoteStationManager::MaxSlrc", UintegerValue(7));
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", StringValue(std::to_string(frames + 10) + "p"));
    // Stations of ns-3 know 0.8 and 3.2 us of each other; its HE-LTF takes 0.8 us more than the standard's with 0.8 us.
    Config::SetDefault("ns3::HeConfiguration::GuardInterval", TimeValue(NanoSeconds(800)));
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(10000)));

    NodeContainer nodes;
    nodes.Create(d.stations);
    MobilityHelper mobility;
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(nodes);
    auto air = CreateObject<YansWifiChannel>();
    air->SetPropagationDelayModel(CreateObject<ConstantSpeedPropagationDelayModel>());
    air->SetPropagationLossModel(Loss(nodes));
    NetDeviceContainer devices = Install(nodes, air);

    double start = 1e-6;
    uint32_t payload = d.octets - 36 - (d.standard == "N" || d.standard == "Ax" ? 2 : 0);
    for (uint32_t i = 0; i < d.stations; i++) {
        auto device = DynamicCast<WifiNetDevice>(devices.Get(i));
        device->SetReceiveCallback(MakeCallback(&Received));
        device->GetPhy()->TraceConnectWithoutContext("PhyTxBegin", MakeBoundCallback(&Began, i));
        device->GetMac()->TraceConnectWithoutContext("DroppedMpdu", MakeCallback(&Dropped));
        device->GetMac()->TraceConnectWithoutContext("AckedMpdu", MakeCallback(&Acked));
        if (i < d.first) continue;
        Address to = d.group ? Address(Mac48Address::GetBroadcast()) : devices.Get(0)->GetAddress();
        if (d.rate > 0) {
            auto wait = CreateObject<ExponentialRandomVariable>();
            wait->SetAttribute("Mean", DoubleValue(1.0 / d.rate));
            Simulator::ScheduleWithContext(i, Seconds(wait->GetValue()), &Arrive, device, to,
                                           payload, wait);
        } else {
            Simulator::ScheduleWithContext(i, Seconds(start), &Fill, device, to, payload, frames);
        }
    }

    // The clock starts when the queues are full: what is timed is the running alone.
    static std::chrono::steady_clock::time_point begin;
    static struct rusage before, after;
    Simulator::Schedule(Seconds(start) + MicroSeconds(1), [] {
        begin = std::chrono::steady_clock::now();
        getrusage(RUSAGE_SELF, &before);
        int64_t end[15];
        std::copy(g.end, g.end + 15, end);
        g = Counts();
        std::copy(end, end + 15, g.end);
    });
    Simulator::Stop(Seconds(start + d.seconds));
    Simulator::Run();
    getrusage(RUSAGE_SELF, &after);
    auto spent = [](const struct timeval& a, const struct timeval& b) {
        return (b.tv_sec - a.tv_sec) + (b.tv_usec - a.tv_usec) / 1e6;
    };
    double cpu = spent(before.ru_utime, after.ru_utime) + spent(before.ru_stime, after.ru_stime);
    double wall =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    double hearers = d.group ? double(d.stations) / on.size() - 1 : 1;
    double good = hearers > 0 ? g.received / hearers : g.sent;
    printf("{\"name\":\"%s\",\"seconds\":%g,\"good\":%.3f,\"sent\":%.3f,\"collide\":%.5f,"
           "\"dropped\":%.5f,\"frames\":%llu,\"cpu_s\":%.4f,\"wall_s\":%.4f}\n",
           d.name.c_str(), d.seconds, good / d.seconds, g.sent / d.seconds,
           g.sent ? double(g.overlapped) / g.sent : 0.0,
           g.finished ? double(g.givenUp) / g.finished : 0.0, (unsigned long long)g.sent, cpu, wall);
    Simulator::Destroy();
}
