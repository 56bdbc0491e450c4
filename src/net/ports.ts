/**
 * Ports of services other than HTTP, which could misinterpret a request: mail, remote shells, name servers
 * and more.
 */
import type { PortRange } from '../base/host-list.ts'

/** The blocked ports of browsers: WHATWG Fetch §2.9, "Port blocking". */
const otherServices = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104,
  109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515,
  526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049,
  3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
])

/**
 * Whether a port may be called: it is on the list of the operator, or, without a list, not a blocked port.
 */
export function isPortAllowed(port: number, listed?: readonly PortRange[]): boolean {
  if (listed) return listed.some(([first, last]) => first <= port && port <= last)
  return !otherServices.has(port)
}
