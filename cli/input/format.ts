/** The format of a credential, as a flag and as the API names it. */
import * as Flags from '@oclif/core/flags'

/** The formats by the names they have in flags. */
export const formats = { jwt: 'JWT', sdjwt: 'SDJWT', anoncreds: 'AnonCreds' } as const
export const formatNames = ['jwt', 'sdjwt', 'anoncreds'] as const

/** `--format`; `what` says what the other formats are for. */
export function formatFlag(what: string) {
  return Flags.option({ options: formatNames })({
    description: `format of the credential: ${what}; jwt when left out`,
  })
}

/** What the API is told; nothing when the flag was left out. */
export function toFormat(format: keyof typeof formats | undefined): {
  credentialFormat?: (typeof formats)[keyof typeof formats]
} {
  return format === undefined ? {} : { credentialFormat: formats[format] }
}
