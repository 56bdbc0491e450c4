/** The types of values in the configuration. Each parses the text of an environment variable. */
import { isIPv4 } from 'node:net'
import * as z from 'zod'
import { readHostList, readPorts } from './host-list.ts'
import '../plain-issues.ts'
import { headerText } from '../api-key.ts'
import { fetchedMethods, ledgerMethods, selfMethods } from '../../definitions/did-names.ts'
import { Secret } from '../secret.ts'

/** A type of texts that `read` parses. The message of its `SyntaxError` becomes the issue. */
function readWith<T>(read: (text: string) => T) {
  return z.string().transform((text, context) => {
    try {
      return read(text)
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      context.addIssue({ code: 'custom', message: error.message })
      return z.NEVER
    }
  })
}

export const flag = z.stringbool({ truthy: ['true', '1'], falsy: ['false', '0'] })

export const count = z.coerce.number().int().min(1)

export const secret = z
  .string()
  .regex(headerText, 'is not visible ASCII, with no space at its ends')
  .transform((value) => new Secret(value))

/** Long enough that it cannot be guessed, so that wrong ones need no limit. */
export const metricsToken = z.string().min(32, 'has less than 32 characters').pipe(secret)

export const http = z
  .url({ protocol: /^https?$/ })
  .refine((value) => !URL.canParse(value) || new URL(value).username === '', 'has a user name')

export const baseUrl = http.transform((value) => value.replace(/\/+$/, ''))

export const ledger = readWith((text) => {
  if (/^sqlite:./.test(text)) return text
  const url = /[?#]/.test(text) ? undefined : baseUrl.safeParse(text)
  if (url?.success) return url.data
  throw new SyntaxError(
    'is neither sqlite:<path> nor an http or https URL without user name, query and fragment',
  )
})

/**
 * A message is parsed and decrypted as a whole, which blocks the event loop: a hostile message of 16 MiB
 * takes seconds. Usual credentials and proofs need up to 16 KiB.
 */
export const messageBytes = z.coerce.number().int().min(16_384).max(16_777_216)

const unitSeconds: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400 }

/** A duration, which becomes a number of seconds: `300`, `300 seconds`, `5m`, `5.minutes`, `30 days`. */
export const seconds = readWith((text) => {
  const [, number, unit] = /^(\d+)[ .]?(s|m|h|d|(?:second|minute|hour|day)s?)?$/.exec(text.trim()) ?? []
  if (number === undefined) throw new SyntaxError('is not a duration such as 300, "300 seconds" or 5m')
  return Number(number) * unitSeconds[unit?.[0] ?? 's']!
})

export const lifetime = seconds.refine((value) => value > 0, 'must be longer than 0 seconds')

/** DID methods whose keys can sign an authentication challenge: first those that need no network. */
export const challengeMethods = [...selfMethods, ...fetchedMethods, ...ledgerMethods]

export const didMethods = z
  .string()
  .transform((text) => text.split(',').map((name) => name.trim()))
  .pipe(z.array(z.enum(challengeMethods)))

/**
 * Signature algorithms of bearer tokens (RFC 7518 §3.1, RFC 9864). `none` and those of shared keys are not
 * among them.
 */
// prettier-ignore
export const signatureAlgorithms = ['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519', 'PS256', 'PS384', 'PS512', 'RS256', 'RS384', 'RS512']

export const tokenAlgorithms = readWith((text) => {
  const names = text.split(',').map((name) => name.trim())
  const wrong = names.find((name) => !signatureAlgorithms.includes(name))
  if (wrong === undefined) return names
  throw new SyntaxError(
    `names ${wrong.slice(0, 20) || 'nothing'}, which is none of ${signatureAlgorithms.join(', ')}`,
  )
})

export const hosts = readWith(readHostList)

export const namedHosts = hosts.refine(
  ({ rest }) => !rest,
  'names no hosts with *; AGENT_ALLOW_PRIVATE_NETWORK=true allows private networks',
)

export const ports = readWith(readPorts)

/** `off`, `auto`, or an IPv4 address, which may have the length of its network's prefix: `192.168.1.10/24`. */
export const lan = readWith((text) => {
  const [address = '', length = '32', ...more] = text.split('/')
  const isNetwork = /^\d\d?$/.test(length) && Number(length) >= 8 && Number(length) <= 32
  if (text === 'auto' || text === 'off' || (isIPv4(address) && isNetwork && more.length === 0)) return text
  throw new SyntaxError('is neither auto, off nor an IPv4 address such as 192.168.1.10')
})

export const origins = readWith((text) => text.split(',').map((entry) => readOrigin(entry.trim())))

/** An origin as browsers send it (RFC 6454 §6.1). `*` is not supported. */
function readOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url && /^https?:$/.test(url.protocol) && url.origin === text.toLowerCase() && !text.includes('*'))
    return url.origin
  throw new SyntaxError(
    `${text.slice(0, 100)} is not an origin such as https://app.example or http://localhost:3000, without a path`,
  )
}

export const masterKey = z
  .string()
  .regex(/^[A-Za-z0-9+/_-]{43}={0,2}$/, 'is not 32 bytes in base64url')
  .transform((value) => new Secret(value))

export const seedHex = z
  .string()
  .regex(/^[0-9a-fA-F]{128}$/, 'is not 128 hexadecimal digits')
  .transform((value) => new Secret(value))
