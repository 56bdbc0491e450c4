/** Reads the QR code in a picture. The decoders are loaded with this file only. */
import jpeg from 'jpeg-js'
import { PNG } from 'pngjs'
import { decodeQR } from 'qr/decode.js'
import { reasonOf } from '../base/reason.ts'
import { DecodeError } from './decoded.ts'

/** Pixels in four bytes: red, green, blue and alpha. */
type Picture = { width: number; height: number; data: Uint8Array }

/** The most megapixels of a picture: it is decompressed to four bytes for each pixel. */
const maxMegapixels = 40

/** The text of the QR code in a PNG or a JPEG. @throws {DecodeError} */
export function readQrCode(bytes: Buffer): string {
  const picture = onWhite(readPicture(bytes))
  try {
    return decodeQR(picture)
  } catch (cause) {
    throw new DecodeError('The picture has no QR code that can be read. Give it sharper, or only the code', {
      cause,
    })
  }
}

function readPicture(bytes: Buffer): Picture {
  const isPng = bytes.subarray(1, 4).toString('latin1') === 'PNG'
  const isJpeg = bytes[0] === 0xff && bytes[1] === 0xd8
  if (!isPng && !isJpeg) throw new DecodeError('The picture is neither a PNG nor a JPEG')
  try {
    if (!isPng) return jpeg.decode(bytes, { useTArray: true, maxResolutionInMP: maxMegapixels })
    const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)]
    if (width * height > maxMegapixels * 1_000_000)
      throw new TypeError(`it has more than ${maxMegapixels} megapixels`)
    return PNG.sync.read(bytes)
  } catch (cause) {
    throw new DecodeError(`The ${isPng ? 'PNG' : 'JPEG'} cannot be read: ${reasonOf(cause)}`, { cause })
  }
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
