/** Reads QR codes with two decoders. */
import jsQr from 'jsqr'
import { decodeQR } from 'qr/decode.js'
import type { Picture } from './_screen.ts'

/** The text that each decoder reads from an image; `undefined` if it finds no QR code. */
export function readQr(picture: Picture): { qr: string | undefined; jsqr: string | undefined } {
  return { qr: attempt(() => decodeQR(picture)), jsqr: readWithJsQr(picture) }
}

/** Reads dark codes on a light ground only, as many phones do. */
export function readWithJsQr({ width, height, data }: Picture): string | undefined {
  return (jsQr.default ?? jsQr)(data, width, height, { inversionAttempts: 'dontInvert' })?.data
}

function attempt(decode: () => string): string | undefined {
  try {
    return decode()
  } catch {
    return undefined
  }
}

/** An invitation URL of a given length, with the characters of invitations. */
export function invitationOf(length: number): string {
  let seed = length
  const next = () => (seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648) >> 16
  const start = 'http://127.0.0.1:8085/invitation?_oob='
  return start + Array.from({ length: length - start.length }, () => base64url[next() % 64]).join('')
}

const base64url = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
