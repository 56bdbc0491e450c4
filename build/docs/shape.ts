/** The parts of `shapes.ts`: response bodies of the API, and the shapes that only commands print. */
import { readFileSync } from 'node:fs'
import * as z from 'zod'
import { routes } from '../../daemon/routes/index.ts'
import type { Route } from '../../daemon/http/route.ts'

export type Shape = {
  type: z.ZodType
  /** The command prints one document per line. */
  isLines?: true
  note?: string
}

type RouteKey = (typeof routes)[number]['key']

const findBody = (key: string) =>
  (routes as readonly Route[]).find((route) => route.key === key)?.contract.reply[1]

/** Returns the schema of an operation's response body. */
export function bodyOf(key: RouteKey): z.ZodType {
  const body = findBody(key)
  if (!body) throw new TypeError(`${key} has no response body`)
  return body
}

/** The shape of an operation's response body. */
export const answer = (operation: RouteKey, note?: string): Shape => ({
  type: bodyOf(operation),
  ...(note !== undefined && { note }),
})

/** A shape that only this command prints. */
export const own = (type: z.ZodType, note?: string): Shape => ({ type, ...(note !== undefined && { note }) })

/** Like `own`, one document per line. */
export const lines = (type: z.ZodType, note: string): Shape => ({ type, isLines: true, note })

export const removed = own(z.object({ id: z.string(), removed: z.literal(true) }).meta({ id: 'Removed' }))

/**
 * The shape of a command by its file: the response body of the operations there, of those that change
 * something if there are any. A `removeCommand` whose operation has no response body prints `removed`.
 * Undefined if these operations have different bodies.
 */
export function printedBy(id: string): Shape | undefined {
  const source = readFileSync(
    new URL(`../../commands/${id.replaceAll(':', '/')}.ts`, import.meta.url),
    'utf8',
  )
  const keys = source.match(/(?<=')(?:GET|POST|PUT|PATCH|DELETE) \/[^']*(?=')/g) ?? []
  const changes = keys.filter((key) => !key.startsWith('GET '))
  const [type, ...others] = new Set((changes.length > 0 ? changes : keys).map(findBody))
  if (others.length > 0) return undefined
  return type ? { type } : source.includes('removeCommand({') ? removed : undefined
}

const { scheduledOperation } = (bodyOf('POST /did-registrar/dids/{didRef}/updates') as z.ZodObject).shape
export const operated = z
  .object({
    scheduledOperation: scheduledOperation as z.ZodType,
    ...toPartial(bodyOf('GET /did-registrar/dids/{didRef}')),
  })
  .meta({ id: 'DidOperation' })

export const backupAtRest = (bodyOf('POST /_system/backups') as z.ZodObject)
  .omit({ heldMs: true, node: true })
  .extend({
    masterKey: z
      .enum(['opens', 'does not open', 'absent'])
      .describe('The one in the backup, otherwise the one at hand, or one that a rotation has replaced.'),
    keptKey: z.string().optional().describe('Where the replaced key is that opens the backup.'),
    faults: z
      .array(z.object({ path: z.string(), reason: z.string() }))
      .describe('Files that are not as they were made.'),
  })
  .meta({ id: 'VerifiedBackup' })

/** The fields of an object, none of them required. */
function toPartial(type: z.ZodType): z.ZodRawShape {
  return (type as z.ZodObject).partial().shape
}

const text = z.string()
/** The file of a service of the daemon. */
export const Service = z.object({ service: z.string(), file: z.string(), profile: z.string() })

export const Daemon = z.object({
  url: text,
  didcommUrl: text,
  certificate: text.optional().describe('The SHA-256 fingerprint of the certificate, with HTTPS.'),
  authority: text
    .optional()
    .describe('The file of the authority to install, with a certificate for development.'),
  pid: z.number(),
  dataDir: text,
  log: text,
  calls: text.optional(),
})
export const Profile = z
  .object({
    name: z.string(),
    inUse: z.boolean(),
    file: z.string(),
    kind: z.enum(['local', 'remote']).optional(),
    url: z.string().optional(),
    didcommUrl: z.string().optional(),
    dataDir: z.string().optional(),
    startedAt: z.string().optional(),
    apiKey: z.literal('***').optional().describe('Present when there is one; the key itself is not shown.'),
    adminKey: z.literal('***').optional().describe('As apiKey.'),
    login: z
      .object({
        issuer: z.string(),
        subject: z.string().optional().describe('As the token says.'),
        walletId: z.string().optional(),
        expiresAt: z.string().optional(),
        isRenewed: z.boolean(),
      })
      .optional()
      .describe('Of `agent login`.'),
    error: z.string().optional().describe('Why the profile cannot be read.'),
  })
  .meta({ id: 'Profile' })
const source = z
  .enum(['flag', 'environment', 'file', 'profile', 'default'])
  .describe('`file` is the configuration file, `profile` what the last start has kept.')
export const ShownConfig = z
  .object({
    profile: z.string(),
    files: z.array(z.object({ source, path: z.string() })).describe('Those that were read.'),
    settings: z.array(
      z.object({
        name: z.string(),
        value: z.string().nullable().describe('As in the environment; *** for a secret.'),
        source,
        path: z.string().optional().describe('The file of the source.'),
        secretFile: z.string().optional().describe('The file that the secret is in.'),
        default: z.string().nullable(),
        description: z.string(),
      }),
    ),
    daemon: z
      .object({
        url: z.string(),
        pid: z.number(),
        startedAt: z.string(),
        differs: z.array(z.string()).describe('Settings that are known to have other values there.'),
        fileChanged: z.boolean().describe('The configuration file has changed since the start.'),
      })
      .optional()
      .describe('The daemon that runs with the data folder.'),
  })
  .meta({ id: 'ShownConfig' })
export const CheckedConfig = z
  .object({
    valid: z.boolean(),
    files: z.array(z.string()).describe('Those that were read, beside the environment.'),
    faults: z.array(
      z.object({
        name: z.string().optional().describe('The setting; absent for a fault of a whole file.'),
        source,
        path: z.string().optional(),
        reason: z.string(),
        remedy: z.string(),
      }),
    ),
    warnings: z.array(z.string()),
  })
  .meta({ id: 'CheckedConfig' })
export const Explanation = z
  .object({
    kind: z.enum(['problem', 'exit-code', 'state', 'report-code']),
    name: z.string(),
    what: z.string().describe('What happened.'),
    why: z.string(),
    do: z.string().describe('What to do.'),
    status: z.number().optional().describe('The HTTP status of a problem.'),
    exitCode: z.number().optional().describe('The exit code of a command that meets the problem.'),
    topic: z
      .enum(['connection', 'credential', 'proof'])
      .optional()
      .describe('The kind of record that has the state.'),
  })
  .meta({ id: 'Explanation' })
export const DecodedText = z
  .object({
    kind: z.string().describe('The recognised form, such as `sd-jwt-vc`.'),
    title: z.string(),
    facts: z
      .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]))
      .describe('The most important values. Times are in ISO 8601.'),
    checks: z.array(
      z.object({
        name: z.string(),
        result: z.enum(['passed', 'failed', 'not verified']),
        detail: z.string(),
      }),
    ),
    content: z.record(z.string(), z.unknown()).describe('The decoded JSON by the name of its part.'),
    parts: z
      .array(z.unknown())
      .describe('What the text contains in forms of their own: objects like this one.'),
  })
  .meta({ id: 'DecodedText' })
export const Key = {
  apiKey: z.string().optional().describe('The key, shown this once.'),
  apiKeyFile: z.string().optional().describe('The file of the key, with --key-file.'),
}
export const Replayed = own(
  z.object({ id: z.string().describe('Of the webhook.'), count: z.number() }).meta({ id: 'Replayed' }),
)

/** The error that a command prints on standard error (cli/errors/report.ts). */
export const Report = z
  .object({
    code: z
      .string()
      .describe(
        'The type of the daemon’s problem, or a code of the command line. `agent explain` knows both.',
      ),
    title: z.string(),
    detail: z.string().optional(),
    status: z.number().optional().describe('The HTTP status of the daemon’s answer.'),
    hint: z.string().optional().describe('A command to run next.'),
    exitCode: z.number(),
  })
  .meta({ id: 'Error' })
