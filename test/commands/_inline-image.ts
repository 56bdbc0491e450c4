/** Decodes the images that terminals show, to pixels. */
import { inflateSync } from 'node:zlib'
import type { Picture } from './_screen.ts'

/** An image in the output of a command. `rows` are the lines that the terminal scales it to. */
type Shown = { protocol: 'kitty' | 'iterm2' | 'sixel'; picture: Picture; rows?: number }

// oxlint-disable-next-line no-control-regex
const iterm2 = /\u001b\]1337;File=inline=1;size=(\d+);height=(\d+);[^:]*:([^\u0007]*)\u0007/

/** @throws when there is none. */
export function imageIn(output: string): Shown {
  // oxlint-disable-next-line no-control-regex
  const kitty = [...output.matchAll(/\u001b_G([^;]*);([^\u001b]*)\u001b\\/g)]
  if (kitty.length > 0) {
    const keys = kitty.map(([, each]) => Object.fromEntries(each!.split(',').map((pair) => pair.split('='))))
    if (kitty.some(([, , part]) => part!.length > 4_096)) throw new Error('A part is too long.')
    if (keys.some(({ m }, at) => m !== (at < keys.length - 1 ? '1' : '0')))
      throw new Error('The last part is not marked.')
    const { a, f, r } = keys[0]!
    if (a !== 'T' || f !== '100') throw new Error('It is not a PNG to show.')
    return {
      protocol: 'kitty',
      rows: Number(r),
      picture: readPng(Buffer.from(kitty.map(([, , part]) => part).join(''), 'base64')),
    }
  }
  const [, size, rows, file] = iterm2.exec(output) ?? []
  if (file !== undefined) {
    const bytes = Buffer.from(file, 'base64')
    if (bytes.length !== Number(size)) throw new Error('The size is not that of the file.')
    return { protocol: 'iterm2', rows: Number(rows), picture: readPng(bytes) }
  }
  // oxlint-disable-next-line no-control-regex
  const sixels = /\u001bP0;1;0q"1;1;(\d+);(\d+)([^\u001b]*)\u001b\\/.exec(output)
  if (!sixels) throw new Error('There is no image.')
  return { protocol: 'sixel', picture: readSixels(Number(sixels[1]), Number(sixels[2]), sixels[3]!) }
}

/** A one-bit PNG, as the agent writes it. */
export function readPng(bytes: Buffer): Picture {
  const width = bytes.readUInt32BE(16)
  const height = bytes.readUInt32BE(20)
  const lines = inflateSync(bytes.subarray(bytes.indexOf('IDAT') + 4, bytes.indexOf('IEND') - 8))
  const stride = 1 + Math.ceil(width / 8)
  return toPicture(width, height, (x, y) => (lines[y * stride + 1 + (x >> 3)]! & (0x80 >> (x & 7))) === 0)
}

/** Sixels (DEC STD 070) with colours in RGB percent. Pixels that no sixel sets become grey. */
function readSixels(width: number, height: number, body: string): Picture {
  const picture = toPicture(width, height, () => false)
  picture.data.fill(128)
  const colours: number[] = []
  let [x, y, colour] = [0, 0, 0]
  for (const [token, index, red, count, sixel] of body.matchAll(
    /#(\d+)(?:;2;(\d+);\d+;\d+)?|!(\d+)([?-~])|[$-]|[?-~]/g,
  ))
    if (token === '$') x = 0
    else if (token === '-') [x, y] = [0, y + 6]
    else if (index !== undefined) {
      if (red === undefined) colour = Number(index)
      else colours[Number(index)] = (Number(red) * 255) / 100
    } else
      for (let n = Number(count ?? 1); n > 0; n--, x++)
        for (let bit = 0; bit < 6; bit++)
          if (((sixel ?? token).charCodeAt(0) - 63) & (1 << bit) && y + bit < height)
            picture.data.fill(colours[colour]!, 4 * ((y + bit) * width + x), 4 * ((y + bit) * width + x) + 3)
  return picture
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
