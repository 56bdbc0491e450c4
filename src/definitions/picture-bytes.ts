/** The kinds of pictures that issuers show, without the code of SVGs: the command line imports it. */

export const pictureTypes = ['image/png', 'image/jpeg', 'image/webp', 'image/svg+xml'] as const
export type PictureType = (typeof pictureTypes)[number]

/**
 * The kind of a picture by its first bytes. Undefined for an SVG, which is text, and for what is not a
 * picture that issuers show.
 */
export function rasterTypeOf(bytes: Uint8Array): PictureType | undefined {
  const start = String.fromCharCode(...bytes.subarray(0, 12))
  if (start.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png'
  if (start.startsWith('\xff\xd8\xff')) return 'image/jpeg'
  // RIFF, four bytes of the length, and the format.
  return /^RIFF[^]{4}WEBP$/.test(start) ? 'image/webp' : undefined
}

/** The bytes of a `data:` URL in base64. Undefined for another form. */
export function bytesOfDataUrl(url: string): Buffer | undefined {
  const [, base64] = /^data:image\/[\w.+-]+;base64,([A-Za-z0-9+/]*={0,2})$/.exec(url) ?? []
  return base64 === undefined ? undefined : Buffer.from(base64, 'base64')
}
