/** The credential formats that are signed tokens. */
import type { Format } from './format.ts'
import { jwt } from './jwt/format.ts'
import { mdoc } from './mdoc/format.ts'
import {
  defaultFormat,
  formatOfId,
  tokenFormats,
  traitsOf,
  type OpenIdFormat,
  type TokenFormat,
} from '../../definitions/format-names.ts'
import { sdJwt } from './sd-jwt/format.ts'
import { formOf } from './token-form.ts'

/** A format is a row here, and a row of its names. */
export const formats: Readonly<Record<TokenFormat, Format>> = { JWT: jwt, SDJWT: sdJwt, MDOC: mdoc }

/** The format with an identifier of OpenID4VC. */
export function formatById(id: OpenIdFormat): Format {
  return formats[formatOfId(id)]
}

/** The format that a text has by its form. */
export function formatOfText(text: string): TokenFormat {
  const form = formOf(text)
  return tokenFormats.find((format) => traitsOf(format).form === form) ?? defaultFormat
}
