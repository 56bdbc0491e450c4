/** The format of a credential, as a flag and as the API names it. */
import * as Flags from '@oclif/core/flags'

const formats = { jwt: 'JWT', sdjwt: 'SDJWT' } as const

/** `--format`; `what` says what the other format is for. */
export function formatFlag(what: string) {
  return Flags.option({ options: ['jwt', 'sdjwt'] as const })({ description: `format of the credential: ${what}; jwt when left out` })
}

/** What the API is told; nothing when the flag was left out. */
export function toFormat(format: keyof typeof formats | undefined): { credentialFormat?: 'JWT' | 'SDJWT' } {
  return format === undefined ? {} : { credentialFormat: formats[format] }
}
