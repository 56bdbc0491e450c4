/** QR codes as black and white (ISO/IEC 18004), of error correction level L, which makes the smallest. */
import { encodeQR } from 'qr'

/** The longest text that there is a code for (version 40), in bytes of UTF-8. */
const capacity = 2_953

/** Why a text has no QR code, if it has none. */
export function tooLong(text: string): string | undefined {
  const bytes = Buffer.byteLength(text)
  return bytes > capacity ? `it is too long for any (${bytes} bytes, and ${capacity} is the most)` : undefined
}

/** The rows of a text's code, true where it is black, with `margin` modules of white around it. The text is not too long. */
export function modulesOf(text: string, margin: number): boolean[][] {
  return encodeQR(text, 'raw', { ecc: 'low', encoding: 'byte', border: margin })
}
