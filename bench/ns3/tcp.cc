// One saturated TCP stream between a station and its access point, HT20 at 65 Mbit/s with A-MPDU, in
// ns-3 3.36 to 3.37 (Debian: libns3-dev). Prints its counts as one line of JSON.
//
//   tcp --up=1 --seconds=10 --window=65535 --segment=1440 --ampdu=65535 --run=1
//
// The setting is that of `crates/sim/examples/tcp_speed.rs`: beacons, no encryption, no loss, windows and
// segments as said, an acknowledgement for every second segment. Two seconds go by before the clock
// starts: the station associates in the first, and the stream begins in the second.
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/propagation-module.h"
#include "ns3/wifi-module.h"

#include <chrono>
#include <cstdio>
#include <sys/resource.h>

using namespace ns3;

static uint64_t g_bytes = 0;
static uint64_t g_mpdus = 0;

static void Arrived(Ptr<const Packet> packet, const Address&) { g_bytes += packet->GetSize(); }
static void Sent(Ptr<const Packet>, double) { g_mpdus++; }

static double Cpu() {
    struct rusage it;
    getrusage(RUSAGE_SELF, &it);
    return it.ru_utime.tv_sec + it.ru_stime.tv_sec + (it.ru_utime.tv_usec + it.ru_stime.tv_usec) / 1e6;
}

static NetDeviceContainer Radios(NodeContainer station, NodeContainer ap, uint32_t ampdu) {
    auto air = CreateObject<YansWifiChannel>();
    air->SetPropagationDelayModel(CreateObject<ConstantSpeedPropagationDelayModel>());
    auto loss = CreateObject<FixedRssLossModel>();
    loss->SetRss(-40);
    air->SetPropagationLossModel(loss);
    YansWifiPhyHelper phy;
    phy.SetChannel(air);
    phy.Set("ChannelSettings", StringValue("{1, 20, BAND_2_4GHZ, 0}"));
    WifiHelper wifi;
    wifi.SetStandard(WIFI_STANDARD_80211n);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode", StringValue("HtMcs7"),
                                 "ControlMode", StringValue("ErpOfdmRate24Mbps"));
    WifiMacHelper mac;
    Ssid ssid("bench");
    NetDeviceContainer devices;
    for (auto type : {"ns3::StaWifiMac", "ns3::ApWifiMac"}) {
        mac.SetType(type, "Ssid", SsidValue(ssid), "BE_MaxAmpduSize", UintegerValue(ampdu),
                    "BE_MaxAmsduSize", UintegerValue(0));
        devices.Add(wifi.Install(phy, mac, devices.GetN() == 0 ? station : ap));
    }
    MobilityHelper mobility;
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(station);
    mobility.Install(ap);
    return devices;
}

int main(int argc, char** argv) {
    bool up = true;
    double seconds = 10;
    uint32_t window = 65535, segment = 1440, ampdu = 65535, run = 1;
    CommandLine command;
    command.AddValue("up", "from the station to the access point, or the other way", up);
    command.AddValue("seconds", "simulated seconds that are timed", seconds);
    command.AddValue("window", "bytes of the send and receive buffers", window);
    command.AddValue("segment", "bytes of a segment", segment);
    command.AddValue("ampdu", "bytes of an A-MPDU at most", ampdu);
    command.AddValue("run", "of the random numbers", run);
    command.Parse(argc, argv);
    RngSeedManager::SetRun(run);
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpCubic"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(segment));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(window));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(window));

    NodeContainer station, ap;
    station.Create(1);
    ap.Create(1);
    NetDeviceContainer devices = Radios(station, ap, ampdu);
    InternetStackHelper stack;
    stack.Install(station);
    stack.Install(ap);
    Ipv4AddressHelper addresses;
    addresses.SetBase("10.1.1.0", "255.255.255.0");
    Ipv4InterfaceContainer at = addresses.Assign(devices);

    const char* tcp = "ns3::TcpSocketFactory";
    PacketSinkHelper sink(tcp, InetSocketAddress(Ipv4Address::GetAny(), 5001));
    auto sinks = sink.Install(up ? ap.Get(0) : station.Get(0));
    sinks.Start(Seconds(0));
    sinks.Get(0)->TraceConnectWithoutContext("Rx", MakeCallback(&Arrived));
    BulkSendHelper bulk(tcp, InetSocketAddress(at.GetAddress(up ? 1 : 0), 5001));
    bulk.SetAttribute("MaxBytes", UintegerValue(0));
    bulk.SetAttribute("SendSize", UintegerValue(segment));
    bulk.Install(up ? station.Get(0) : ap.Get(0)).Start(Seconds(1));
    for (uint32_t i = 0; i < 2; i++)
        DynamicCast<WifiNetDevice>(devices.Get(i))
            ->GetPhy()
            ->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&Sent));

    static double cpu = 0;
    static std::chrono::steady_clock::time_point wall;
    Simulator::Schedule(Seconds(2), [] {
        g_bytes = g_mpdus = 0;
        cpu = Cpu();
        wall = std::chrono::steady_clock::now();
    });
    Simulator::Stop(Seconds(2 + seconds));
    Simulator::Run();
    double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - wall).count();
    printf("{\"seconds\":%g,\"mbps\":%.3f,\"mpdus\":%llu,\"cpu_s\":%.4f,\"wall_s\":%.4f}\n", seconds,
           g_bytes * 8e-6 / seconds, (unsigned long long)g_mpdus, Cpu() - cpu, took);
    Simulator::Destroy();
}
