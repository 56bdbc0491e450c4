/** QR codes as SVG inside of a page: black on white in either colour scheme, since many readers take nothing else. */
import { encodeQR } from 'qr'
import { html, type Html } from './html.ts'

/** Modules of white around the code (ISO/IEC 18004 §5.3.8). */
const quietZone = 4

/** What a code of the largest size holds, in bytes, by how much of it may be damaged. */
const capacities = [
  ['medium', 2_331],
  ['low', 2_953],
] as const

/** The code of a text, with medium error correction where it fits; nothing for a text that is too long for any. `label` says what it is. */
export function toQrCode(text: string, label: string): Html | undefined {
  const length = Buffer.byteLength(text)
  const ecc = capacities.find(([, bytes]) => length <= bytes)?.[0]
  if (ecc === undefined) return undefined
  const modules = encodeQR(text, 'raw', { ecc, border: quietZone })
  const size = modules.length
  return html`<svg
    class="qr"
    role="img"
    aria-label="${label}"
    viewBox="0 0 ${size} ${size}"
    shape-rendering="crispEdges"
  >
    <rect width="${size}" height="${size}" fill="#fff" />
    <path fill="#000" d="${modules.map(toPath).join('')}" />
  </svg>`
}

/** A row of modules: one bar for each run of dark ones. */
function toPath(row: readonly boolean[], y: number): string {
  const runs = row.map((isDark) => (isDark ? '1' : '0')).join('')
  return [...runs.matchAll(/1+/g)]
    .map(({ 0: run, index }) => `M${index} ${y}h${run.length}v1h-${run.length}z`)
    .join('')
}
