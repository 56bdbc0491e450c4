/** QR codes as inline SVG, black on white also in dark mode, since many scanners read nothing else. */
import { encodeQR } from 'qr'
import { html, type Html } from './html.ts'

/** White modules around the code (ISO/IEC 18004 §5.3.8). */
const quietZone = 4

/** The bytes that the largest code holds, by error correction level. */
const capacities = [
  ['medium', 2_331],
  ['low', 2_953],
] as const

/** The QR code of a text, with medium error correction if it fits. Undefined for a text that is too long. */
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

/** The path of one row: a bar for each run of dark modules. */
function toPath(row: readonly boolean[], y: number): string {
  const runs = row.map((isDark) => (isDark ? '1' : '0')).join('')
  return [...runs.matchAll(/1+/g)]
    .map(({ 0: run, index }) => `M${index} ${y}h${run.length}v1h-${run.length}z`)
    .join('')
}
