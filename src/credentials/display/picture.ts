/** Pictures that issuers show: what kind their bytes are, and which may be shown. */
import { type PictureType, rasterTypeOf } from '../../definitions/picture-bytes.ts'
import { integrityOf } from '../codecs/sd-jwt/type-metadata.ts'
import { checkSvg, SvgError } from './svg.ts'

/** The most bytes of a picture. */
export const maxPictureBytes = 262_144

export type Picture = {
  mediaType: PictureType
  /** Of Subresource Integrity: `sha256-` and a digest in base64. */
  integrity: string
  /** The ids of the placeholders of an SVG. */
  placeholders: ReadonlySet<string>
}

/** Why a file is not a picture that may be shown, as the predicate of a sentence. */
export class PictureError extends Error {
  override name = 'PictureError'
}

/** @throws {PictureError} */
export function readPicture(bytes: Uint8Array): Picture {
  if (bytes.length > maxPictureBytes)
    throw new PictureError(`has ${bytes.length} bytes, more than ${maxPictureBytes}`)
  const integrity = integrityOf(bytes)
  const raster = rasterTypeOf(bytes)
  if (raster) return { mediaType: raster, integrity, placeholders: new Set() }
  const text = toText(bytes)
  if (text === undefined || !/^\uFEFF?\s*</.test(text))
    throw new PictureError('is no picture: its bytes are not those of PNG, JPEG, WebP or SVG')
  try {
    return { mediaType: 'image/svg+xml', integrity, placeholders: checkSvg(text) }
  } catch (error) {
    if (error instanceof SvgError) throw new PictureError(`is an SVG that is refused: ${error.message}`)
    throw error
  }
}

function toText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}
