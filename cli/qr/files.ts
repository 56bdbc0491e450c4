/** QR codes as SVG and PNG images. */
import { crc32, deflateSync } from 'node:zlib'
import { modulesOf, tooLong } from './draw.ts'
import type { Format } from './flags.ts'

/** The quiet zone in modules (ISO/IEC 18004 §5.3.8). */
const quietZone = 4

/** Pixels per module. */
const scale = 8

/** Returns the content of a file with the QR code of a text, or the reason why there is none. */
export function toImage(text: string, format: Format): string | Buffer | { reason: string } {
  const reason = tooLong(text)
  if (reason !== undefined) return { reason }
  const modules = modulesOf(text, quietZone)
  return format === 'svg' ? toSvg(modules) : toPng(modules)
}

/** Returns an SVG path with one bar for each run of black modules. */
function toSvg(modules: readonly (readonly boolean[])[]): string {
  const size = modules.length
  const bars = modules.flatMap((row, y) =>
    [
      ...row
        .map((isBlack) => (isBlack ? '1' : '0'))
        .join('')
        .matchAll(/1+/g),
    ].map(({ 0: run, index }) => `M${index} ${y}h${run.length}v1h-${run.length}z`),
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${size * scale}" height="${size * scale}" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges">
<rect width="${size}" height="${size}" fill="#fff"/>
<path fill="#000" d="${bars.join('')}"/>
</svg>
`
}

const signature = Buffer.from('\u0089PNG\r\n\u001a\n', 'latin1')

/**
 * Encodes rows of modules as PNG (ISO/IEC 15948), one bit per pixel. True is black. `scale` is pixels per
 * module.
 */
export function toPng(rows: readonly (readonly boolean[])[]): Buffer {
  const width = rows[0]!.length * scale
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(rows.length * scale, 4)
  header.writeUInt8(1, 8) // bits per pixel; the rest is 0: greyscale, deflate, standard filters, not interlaced
  const pixels = rows.flatMap((row) => Array.from({ length: scale }, () => toScanline(row, width, scale)))
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.concat(pixels))),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

/** Encodes a line of pixels: the filter type 0, then one bit per pixel, 1 for white, highest bit first. */
function toScanline(row: readonly boolean[], width: number, scale: number): Buffer {
  const line = Buffer.alloc(1 + Math.ceil(width / 8))
  for (let x = 0; x < width; x++) if (!row[Math.floor(x / scale)]) line[1 + (x >> 3)]! |= 0x80 >> (x & 7)
  return line
}

function chunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type), data])
  const whole = Buffer.alloc(4 + typed.length + 4)
  whole.writeUInt32BE(data.length, 0)
  typed.copy(whole, 4)
  whole.writeUInt32BE(crc32(typed), 4 + typed.length)
  return whole
}
