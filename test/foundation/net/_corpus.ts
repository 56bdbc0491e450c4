/**
 * URLs that lead to this machine, to private networks and to metadata services, in spellings that defeat
 * textual checks.
 */
import { hostname } from 'node:os'
import type { Lookup } from '../../../src/foundation/net/connector.ts'
import { words } from '../../support/words.ts'

const hosts = words(`
  127.0.0.1 127.1 127.0.1 2130706433 0x7f000001 0x7f.1 0x7F.0x0.0x0.0x1 0177.0.0.1 017700000001 0177.1 127.0.0.1. 0 0.0.0.0 0x0 00
  0.0.0.1 127.127.127.127 127.0.0.2 127.255.255.255 0x7f.0.1 127.0.0x1 127.00000.00000.00001 %31%32%37.0.0.1 127%2e0%2e0%2e1 127.0.0.%31
  １２７.0.0.1 127。0。0。1 127．0．0．1 127｡0｡0｡1 ①②⑦.⓪.⓪.① 𝟏𝟐𝟕.𝟎.𝟎.𝟏 𝟘 0x7𝖋.1
  localhost LOCALHOST lOcAlHoSt localhost. localhost.localdomain a.localhost %6cocalhost ⓛⓞⓒⓐⓛⓗⓞⓢⓣ ｌｏｃａｌｈｏｓｔ loc\u00adalhost loc\u200balhost
  ｌocalhost。 ℓocalhost localhoſt 127.0.0.1.nip.io localtest.me 7f000001.nip.io rebind.example xn--e1aybc.example тест.example faß.example
  printer.local db.internal vault.corp nas.lan router.home wiki.intranet x.home.arpa hidden.onion unknown.invalid ip6-localhost ip6-loopback kubernetes.default.svc
  metadata metadata.google.internal instance-data.ec2.internal host.docker.internal gateway.docker.internal metadata.azure.internal
  [::1] [0:0:0:0:0:0:0:1] [0000:0000:0000:0000:0000:0000:0000:0001] [0::1] [::0001] [::] [0::0] [::0.0.0.1] [::ffff:127.0.0.1]
  [::ffff:7f00:1] [::FFFF:7F00:0001] [0:0:0:0:0:ffff:127.0.0.1] [::ffff:0.0.0.0] [::127.0.0.1] [::7f00:1] [::ffff:0:127.0.0.1]
  [64:ff9b::127.0.0.1] [64:ff9b::7f00:1] [64:ff9b::a9fe:a9fe] [64:ff9b:1::7f00:1] [2002:7f00:1::] [2002:7f00:1::1] [2002:a9fe:a9fe::]
  [2001:0:7f00:1::] [2001:0:53aa:64c:0:fbff:80ff:fffe] [2001:db8::1] [3fff::1] [5f00::1] [100::1]
  [::ffff:10.0.0.1] [::ffff:a00:1] [::ffff:c0a8:101] [::ffff:a9fe:a9fe] [::ffff:169.254.169.254] [::ffff:6440:1]
  [fe80::1] [fe80::a9fe:a9fe] [febf::1] [fec0::1] [fc00::1] [fd00::1] [fd00:ec2::254] [fd20:ce::254] [ff02::1] [ff05::2]
  10.0.0.1 10.1 167772161 0x0a000001 012.0.0.1 10.255.255.255 172.16.0.1 172.31.255.255 2886729729 0xac100001 192.168.1.1 192.168.257
  3232235777 0xc0a80101 0300.0250.1.1 169.254.169.254 169.254.43518 2852039166 0xa9fea9fe 0xa9.0xfe.0xa9.0xfe 0251.0376.0251.0376
  0251.254.169.254 169.254.170.2 169.254.0.1 １６９.254.169.254 169。254。169。254 169.254.169.254. 169.254.169.254.nip.io
  100.64.0.1 100.100.100.200 100.127.255.255 1684301000 192.0.0.192 192.0.0.1 192.0.2.1 192.88.99.1 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1
  168.63.129.16 224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.255 4294967295 0xffffffff 0377.0377.0377.0377
`)

const plain = (host: string) => `http://${host}/`

/** URL notations of a host on which parsers disagree. */
const forms = [
  (host: string) => `https://${host}/`,
  (host: string) => `http:${host}/a?b#c`,
  (host: string) => `http:\\\\${host}\\`,
  (host: string) => `http:///${host}/x/../y`,
  (host: string) => `http://user:pass@${host}/`,
]

function tricks(port: number): string[] {
  const here = `127.0.0.1:${port}`
  return [
    `http://user@${here}/`,
    `http://:pass@${here}/`,
    `http://@${here}/`,
    `http://example.org@${here}/`,
    `http://example.org%40${here}/`,
    `http://${here}@rebind.example/`,
    `http://example.org#@${here}/`.replace('example.org', 'rebind.example'),
    `http://${here}\\@rebind.example/`,
    `http://rebind.example\\@${here}/`,
    `http://rebind.example:80:${port}/`,
    `http://127.0.0.1:0${port}/`,
    `http://127.0.0.1:${port + 65_536}/`,
    `http://127.0.0.1:-${port}/`,
    `http://127.0.0.1 :${port}/`,
    `http://127.0.0.1%00:${port}/`,
    `http://127.0.0.1%0d%0aHost:x:${port}/`,
    ` \thttp://${here}/ `,
    `ht\ntp://${here}/`,
    `http://127.0.\t0.1:${port}/`,
    `HTTP://${here}/`,
    `http:/${here}/`,
    `//${here}/`,
    here,
    `ftp://${here}/`,
    `file://${here}/`,
    'file:///etc/passwd',
    `gopher://${here}/_GET`,
    `dict://${here}/stat`,
    `ldap://${here}/`,
    `tftp://${here}/`,
    `ws://${here}/`,
    `wss://${here}/`,
    `unix:/var/run/docker.sock`,
    `http+unix://%2Fvar%2Frun%2Fdocker.sock/`,
    `blob:http://${here}/`,
    `view-source:http://${here}/`,
    `jar:http://${here}!/`,
    'data:application/json,{}',
    'javascript:1',
    `http://[::1%25lo]:${port}/`,
    `http://[fe80::1%eth0]:${port}/`,
    `http://[::1:${port}/`,
    `http://[v1.x]:${port}/`,
    `http://256.0.0.1:${port}/`,
    `http://127.0.0.0.1:${port}/`,
    `http://0x100000000:${port}/`,
    'http://',
    '',
    // Ports of other services.
    ...[22, 25, 6667].map((other) => `http://rebind.example:${other}/`),
  ]
}

/** More than 200 distinct URLs, with `port` where they have one. */
export function corpus(port: number): string[] {
  const urls = hosts.flatMap((host, index) => {
    const form = index % 4 === 0 ? [forms[(index / 4) % forms.length]!] : []
    return [plain, ...form].map((write) => write(`${host}:${port}`))
  })
  return [...new Set([...urls, ...tricks(port)])]
}

/** 53 spellings of this machine's addresses, as URLs with `port`, that need no name server. */
export function loopbacks(port: number): string[] {
  const spelt = words(`
    127.0.0.1 127.1 127.0.1 2130706433 0x7f000001 0x7f.1 0x7F.0x0.0x0.0x1 0177.0.0.1 017700000001 0177.1 127.0.0.1. 127.0.0x1 127.00000.00000.00001
    0x7f.0x00.0x00.0x01 0 0.0.0.0 0x0 127.127.127.127 127.0.0.2 127.255.255.255 %31%32%37.0.0.1 127%2e0%2e0%2e1 １２７.0.0.1 127。0。0。1 ①②⑦.⓪.⓪.① 𝟏𝟐𝟕.𝟎.𝟎.𝟏
    localhost LOCALHOST localhost. a.localhost %6cocalhost ⓛⓞⓒⓐⓛⓗⓞⓢⓣ ｌｏｃａｌｈｏｓｔ ip6-localhost localhost.localdomain ${hostname()}
    [::1] [0:0:0:0:0:0:0:1] [0000:0000:0000:0000:0000:0000:0000:0001] [0::1] [::] [::ffff:127.0.0.1] [::ffff:7f00:1] [0:0:0:0:0:ffff:127.0.0.1]
    [::127.0.0.1] [64:ff9b::127.0.0.1] [2002:7f00:1::1] [::FFFF:7F00:0001]
  `)
  const here = `127.0.0.1:${port}`
  return [
    ...spelt.map(toPlain(port)),
    `http://user:pass@${here}/`,
    `http:\\\\${here}\\`,
    `HTTP://${here}/x/../y`,
    `http:${here}/`,
    `http:///${here}/`,
  ]
}

const toPlain = (port: number) => (host: string) => `http://${host}:${port}/`

/** A hostile name server: every name is this machine. */
export const hostile: Lookup = async () => [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]
