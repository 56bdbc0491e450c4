/** Reads the QR code in a picture. The decoders are loaded with this file only. */
import { inflateSync } from 'node:zlib'
import jpeg from 'jpeg-js'
import { PNG } from 'pngjs'
import { decodeQR, type FinderPoints } from 'qr/decode.js'
import { reasonOf } from '../../foundation/reason.ts'
import { DecodeError } from './decoded.ts'

/** Pixels in four bytes: red, green, blue and alpha. */
type Picture = { width: number; height: number; data: Uint8Array }

/** The most megapixels of a picture: it is decompressed to four bytes for each pixel. */
const maxMegapixels = 40

/** The text of the only QR code in a PNG or a JPEG. @throws {DecodeError} */
export function readQrCode(bytes: Buffer): string {
  const picture = onWhite(readPicture(bytes))
  const first = findCode(picture)
  const texts =
    first === undefined ? halvesOf(picture).map(findCode) : [first, findCode(without(picture, first))]
  const [text, other] = new Set(texts.flatMap((found) => found?.text ?? []))
  if (text === undefined)
    throw new DecodeError('The picture has no QR code that can be read. Give it sharper, or only the code')
  if (other !== undefined)
    throw new DecodeError('The picture has several QR codes. Give it with one of them only')
  return text
}

type Found = { text: string; place: FinderPoints['boundingBox'] | undefined }

function findCode(picture: Picture): Found | undefined {
  let place: Found['place']
  try {
    const text = decodeQR(picture, { pointsOnDetect: ({ boundingBox }) => (place = boundingBox) })
    return { text, place }
  } catch {
    return undefined
  }
}

/** The picture with a code painted over, and with the quiet zone around it. */
function without({ width, height, data }: Picture, { place }: Found): Picture {
  const rest = new Uint8Array(data)
  if (!place) return { width, height, data: rest.fill(255) }
  const margin = place.width / 10
  const [left, right] = [place.x - margin, place.x + place.width + margin]
  const [top, bottom] = [place.y - margin, place.y + place.height + margin]
  const clamp = (at: number, most: number) => Math.min(Math.max(Math.round(at), 0), most)
  for (let y = clamp(top, height); y < clamp(bottom, height); y++)
    rest.fill(255, 4 * (y * width + clamp(left, width)), 4 * (y * width + clamp(right, width)))
  return { width, height, data: rest }
}

/** The left, right, upper and lower half, where a picture with two codes has one. */
function halvesOf({ width, height, data }: Picture): Picture[] {
  const [halfWidth, halfHeight] = [width >> 1, height >> 1]
  const columns = (from: number, count: number): Picture => {
    const part = new Uint8Array(4 * count * height)
    for (let y = 0; y < height; y++) {
      const at = 4 * (y * width + from)
      part.set(data.subarray(at, at + 4 * count), 4 * y * count)
    }
    return { width: count, height, data: part }
  }
  const split = 4 * width * halfHeight
  return [
    columns(0, halfWidth),
    columns(halfWidth, width - halfWidth),
    { width, height: halfHeight, data: data.slice(0, split) },
    { width, height: height - halfHeight, data: data.slice(split) },
  ]
}

function readPicture(bytes: Buffer): Picture {
  const isPng = bytes.subarray(1, 4).toString('latin1') === 'PNG'
  const isJpeg = bytes[0] === 0xff && bytes[1] === 0xd8
  if (!isPng && !isJpeg) throw new DecodeError('The picture is neither a PNG nor a JPEG')
  try {
    if (!isPng) return jpeg.decode(bytes, { useTArray: true, maxResolutionInMP: maxMegapixels })
    checkPng(bytes)
    return PNG.sync.read(bytes)
  } catch (cause) {
    throw new DecodeError(`The ${isPng ? 'PNG' : 'JPEG'} cannot be read: ${reasonOf(cause)}`, { cause })
  }
}

/**
 * Checks what decides how much memory a PNG takes: one header, its size, and the length of interlaced pixels,
 * which pngjs inflates without a limit.
 *
 * @throws {TypeError | RangeError}
 */
function checkPng(bytes: Buffer): void {
  const chunks: { type: string; content: Buffer }[] = []
  // A chunk is its length, its type, its content, and a check sum (PNG §5.3).
  for (let at = 8; at + 8 <= bytes.length; at += 12 + chunks.at(-1)!.content.length) {
    const content = bytes.subarray(at + 8, at + 8 + bytes.readUInt32BE(at))
    chunks.push({ type: bytes.toString('latin1', at + 4, at + 8), content })
  }
  const contentsOf = (type: string) =>
    chunks.filter((each) => each.type === type).map(({ content }) => content)
  const [header, ...others] = contentsOf('IHDR')
  if (!header || others.length > 0) throw new TypeError('it does not have exactly one header')
  const [width, height, isInterlaced] = [header.readUInt32BE(0), header.readUInt32BE(4), header[12] !== 0]
  if (width * height > maxMegapixels * 1_000_000)
    throw new TypeError(`it has more than ${maxMegapixels} megapixels`)
  // At most eight bytes for each pixel, and less than four for each line of the seven passes.
  const maxOutputLength = 8 * width * height + 4 * (2 * height + 7)
  if (isInterlaced) inflateSync(Buffer.concat(contentsOf('IDAT')), { maxOutputLength })
}

/** The background of a code may be transparent, which is white on a page. */
function onWhite({ width, height, data }: Picture): Picture {
  const shown = new Uint8Array(data.length)
  for (let at = 0; at < data.length; at += 4) {
    const alpha = data[at + 3]!
    for (let channel = at; channel < at + 3; channel++)
      shown[channel] = (data[channel]! * alpha + 255 * (255 - alpha)) / 255
    shown[at + 3] = 255
  }
  return { width, height, data: shown }
}
