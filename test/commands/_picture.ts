/** Pictures of QR codes, as pixels. */
import { inflateSync } from 'node:zlib'
import type { Picture } from './_screen.ts'

/** A one-bit PNG, as the agent writes it. */
export function readPng(bytes: Buffer): Picture {
  const width = bytes.readUInt32BE(16)
  const height = bytes.readUInt32BE(20)
  const lines = inflateSync(bytes.subarray(bytes.indexOf('IDAT') + 4, bytes.indexOf('IEND') - 8))
  const stride = 1 + Math.ceil(width / 8)
  return toPicture(width, height, (x, y) => (lines[y * stride + 1 + (x >> 3)]! & (0x80 >> (x & 7))) === 0)
}

export function toPicture(
  width: number,
  height: number,
  isBlack: (x: number, y: number) => boolean,
): Picture {
  const data = new Uint8ClampedArray(width * height * 4).fill(255)
  for (let at = 0; at < width * height; at++)
    if (isBlack(at % width, Math.floor(at / width))) data.fill(0, 4 * at, 4 * at + 3)
  return { width, height, data }
}
