// Compares air times of HE frames with ns-3's: reads lines of `check --air` (scheme, guard interval, whether it is ER SU,
// octets, HE-LTF, air time; times in ns) and prints those that differ. ns-3 counts 8 us for each HE-LTF, whatever the guard
// interval; the difference to the standard's length, which stands in the line, is taken off.
#include "ns3/core-module.h"
#include "ns3/he-phy.h"
#include "ns3/wifi-phy.h"
#include "ns3/wifi-tx-vector.h"
#include <iostream>

using namespace ns3;

int main() {
    int lines = 0, wrong = 0;
    uint16_t mcs, guard, extended;
    uint32_t octets;
    int64_t ltf, ours;
    while (std::cin >> mcs >> guard >> extended >> octets >> ltf >> ours) {
        WifiTxVector vector;
        vector.SetMode(HePhy::GetHeMcs(mcs));
        vector.SetPreambleType(extended ? WIFI_PREAMBLE_HE_ER_SU : WIFI_PREAMBLE_HE_SU);
        vector.SetChannelWidth(20);
        vector.SetGuardInterval(guard);
        vector.SetNss(1);
        int64_t its = WifiPhy::CalculateTxDuration(octets, vector, WIFI_PHY_BAND_2_4GHZ).GetNanoSeconds();
        its += ltf - 8000;
        lines++;
        if (its == ours) continue;
        wrong++;
        std::cout << "MCS " << mcs << ", " << guard << " ns" << (extended ? ", ER SU" : "") << ", " << octets
                  << " octets: " << ours << " ns here, " << its << " in ns-3\n";
    }
    std::cout << lines << " air times, " << wrong << " of them differ\n";
    return lines == 0 || wrong ? 1 : 0;
}
