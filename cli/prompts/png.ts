/** Pictures of black and white as PNG (ISO/IEC 15948): one bit a pixel, greyscale. */
import { crc32, deflateSync } from 'node:zlib'

const signature = Buffer.from('\u0089PNG\r\n\u001a\n', 'latin1')

/** A PNG of rows of squares of `scale` pixels, black where true. The rows are equally long. */
export function toPng(rows: readonly (readonly boolean[])[], scale: number): Buffer {
  const width = rows[0]!.length * scale
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(rows.length * scale, 4)
  header.writeUInt8(1, 8) // bits a pixel; the rest is 0: greyscale, deflate, the usual filters, not interlaced
  const pixels = rows.flatMap((row) => Array.from({ length: scale }, () => toScanline(row, width, scale)))
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.concat(pixels))),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

/** A line of pixels, 1 where white, the first in the highest bit, after the byte that says that it is not filtered. */
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
