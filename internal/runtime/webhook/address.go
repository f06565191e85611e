package webhook

import (
	"net/netip"
	"slices"
)

// special are the networks that IANA lists as special: those of IPv4, and those within the public part of IPv6.
var special = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
	"192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
	"224.0.0.0/4", "240.0.0.0/4",
	"2001::/23", "2001:db8::/32", "3fff::/20",
)

var (
	public6 = netip.MustParsePrefix("2000::/3")
	nat64   = netip.MustParsePrefix("64:ff9b::/96")
	sixTo4  = netip.MustParsePrefix("2002::/16")
)

func prefixes(texts ...string) (list []netip.Prefix) {
	for _, text := range texts {
		list = append(list, netip.MustParsePrefix(text))
	}
	return list
}

// isPublic reports whether an address can be reached from everywhere. For an IPv6 address that contains an IPv4 address, the
// IPv4 address decides.
func isPublic(address netip.Addr) bool {
	if address.Zone() != "" {
		return false
	}
	address = address.Unmap()
	bytes := address.As16()
	switch {
	case nat64.Contains(address):
		return isPublic(netip.AddrFrom4([4]byte(bytes[12:16])))
	case sixTo4.Contains(address):
		return isPublic(netip.AddrFrom4([4]byte(bytes[2:6])))
	case address.Is6() && !public6.Contains(address):
		return false
	default:
		return !slices.ContainsFunc(special, func(n netip.Prefix) bool { return n.Contains(address) })
	}
}
