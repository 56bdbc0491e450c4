/**
 * Every environment variable the agent reads, once, by the real agent's name wherever it has one (api.md §7).
 *
 * No other file reads the environment. The table in docs/configuration.md is compared with this one by `test/docs.test.ts`.
 * What neither the service document nor the real agent has is marked (ours).
 */
import { z } from 'zod'
import { headerText, Secret } from './secret.ts'
import { fromBase64 } from './bytes.ts'
import { readHostList, readPorts, type HostList } from './host-list.ts'
import { locationVariables } from './settings.ts'
import './plain-issues.ts'
import { StartError } from './start-error.ts'

const flag = z.stringbool({ truthy: ['true', '1'], falsy: ['false', '0'] })
const secret = z
  .string()
  .regex(headerText, 'is not visible ASCII, with no space at its ends')
  .transform((value) => new Secret(value))
const http = z
  .url({ protocol: /^https?$/ })
  .refine((value) => !URL.canParse(value) || new URL(value).username === '', 'has a user name')
const baseUrl = http.transform((value) => value.replace(/\/+$/, ''))
const ledger = z.string().transform((text, context) => {
  if (/^sqlite:./.test(text)) return text
  const url = /[?#]/.test(text) ? undefined : baseUrl.safeParse(text)
  if (url?.success) return url.data
  context.addIssue({
    code: 'custom',
    message: 'is neither sqlite:<path> nor an http or https URL without user name, query and fragment',
  })
  return z.NEVER
})
const count = z.coerce.number().int().min(1)

/**
 * A message is parsed and decrypted as a whole, while everything else waits, and kept several times over meanwhile: 16 MiB made
 * for that cost seconds. With less than 16 KiB, credentials and proofs of a usual size would not come in.
 */
const messageBytes = z.coerce.number().int().min(16_384).max(16_777_216)

const units: Record<string, number> = {
  s: 1,
  second: 1,
  m: 60,
  minute: 60,
  h: 3_600,
  hour: 3_600,
  d: 86_400,
  day: 86_400,
}

/** A length of time, in seconds: `300`, `300 seconds`, `5m`, `5.minutes`, `30 days`. */
const seconds = z.string().transform((text, context) => {
  const match = /^(\d+)[ .]?(s|m|h|d|(?:second|minute|hour|day)s?)?$/.exec(text.trim())
  const unit = match?.[2]?.length === 1 ? match[2] : match?.[2]?.replace(/s$/, '')
  if (match) return Number(match[1]) * (unit === undefined ? 1 : units[unit]!)
  context.addIssue({ code: 'custom', message: 'is not a length of time such as 300, "300 seconds" or 5m' })
  return z.NEVER
})

/** A length of time in which something can happen. */
const lifetime = seconds.refine((value) => value > 0, 'is no time at all')

/** DID methods whose keys can sign an authentication challenge. */
export const challengeMethods = ['peer', 'key', 'jwk', 'web', 'prism'] as const
const didMethods = z
  .string()
  .transform((text) => text.split(',').map((name) => name.trim()))
  .pipe(z.array(z.enum(challengeMethods)))

/** Reads a text with a function whose `SyntaxError` says what is wrong with it. */
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
const hosts = readWith(readHostList)
const isNamed = (list: HostList) => !list.rest
const ports = readWith(readPorts)
const origins = readWith((text) => text.split(',').map((entry) => readOrigin(entry.trim())))

/** An origin as browsers send it (RFC 6454 §6.1). Each is named: there is no way to let in all. */
function readOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url && /^https?:$/.test(url.protocol) && url.origin === text.toLowerCase() && !text.includes('*'))
    return url.origin
  throw new SyntaxError(
    `${text.slice(0, 100)} is not an origin such as https://app.example or http://localhost:3000, without a path`,
  )
}

const masterKey = z.string().transform((text, context) => {
  try {
    if (fromBase64(text).length === 32) return new Secret(text)
  } catch {
    // Reported below: the text itself must not be in the message.
  }
  context.addIssue({ code: 'custom', message: 'is not 32 bytes in base64url' })
  return z.NEVER
})

const seedHex = z
  .string()
  .regex(/^[0-9a-fA-F]{128}$/, 'is not 128 hexadecimal digits')
  .transform((value) => new Secret(value))

// prettier-ignore
export const variables = {
  ...locationVariables,
  REST_SERVICE_URL:                     baseUrl.optional()     .describe('Public base URL of the HTTP API; when it is on the public Internet, invitations are links to pages there. Default: the address that is bound.'),
  DIDCOMM_SERVICE_URL:                  baseUrl.optional()     .describe('Public base URL of the DIDComm endpoint, written into every peer DID. Default: the address that is bound.'),
  POLLUX_STATUS_LIST_REGISTRY_PUBLIC_URL:
                                        baseUrl.optional()     .describe('Public base URL of the status lists of new credentials; those issued keep theirs. Default: `REST_SERVICE_URL`.'),
  AGENT_MASTER_KEY:                     masterKey.optional()   .describe('32 bytes, base64url: seals every secret on disk. Default: a file made on first start (ours).'),
  AGENT_MASTER_KEY_FILE:                z.string().min(1).optional()
                                                               .describe('File that holds the master key. Default: `master.key` in the data folder (ours).'),
  AGENT_MASTER_KEY_STORE:               z.enum(['file', 'keyring']).default('file')
                                                               .describe('`keyring`: the master key is in the keyring of the operating system, where a key in `master.key` is moved at the next start (ours).'),
  AGENT_ALLOW_PRIVATE_NETWORK:          flag.default(false)    .describe('Lets the agent call private and loopback addresses that a tenant or a peer names; metadata services of clouds stay out of reach (ours).'),
  AGENT_ALLOW_HOSTS:                    hosts.refine(isNamed, 'names no hosts with *; AGENT_ALLOW_PRIVATE_NETWORK=true allows private networks').optional()
                                                               .describe('Hosts that may be called wherever they are when a tenant or a peer names them, by commas: `hooks.example`, `.partner.example` (it and all below it), `10.20.0.0/16`, `fd00::1` (ours).'),
  AGENT_DENY_HOSTS:                     hosts.optional()       .describe('Hosts that are never called when a tenant or a peer names them, written likewise; `*` denies all that `AGENT_ALLOW_HOSTS` does not list (ours).'),
  AGENT_ALLOW_PORTS:                    ports.optional()       .describe('The only ports that are called when a tenant or a peer names them, such as `443,8000-8999`. Default: all but those of other services, which browsers do not call either (ours).'),
  AGENT_CORS_ORIGINS:                   origins.optional()     .describe('Origins of web pages that may call both servers, by commas, such as `https://app.example`. Default: none (ours).'),
  AGENT_LOG_LEVEL:                      z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info')
                                                               .describe('Least level that is logged (ours).'),
  AGENT_CONNECTIONS:                    count.default(5_000)   .describe('Connections that each of the two servers has open at a time; further ones are closed (ours).'),
  AGENT_CONNECTIONS_PER_ADDRESS:        count.default(1_000)   .describe('Connections to each server that one address may have open; further ones are closed. Behind a proxy that is trusted there is no such limit (ours).'),
  AGENT_OPEN_WALLETS:                   count.default(200)     .describe('Wallet files kept open at a time, which takes some 160 kB each; to open one again takes 3 ms (ours).'),

  ADMIN_TOKEN:                          secret.optional()      .describe('The administrator’s secret, sent as `x-admin-api-key`. Default: a random one in the profile.'),
  ADMIN_TOKEN_PREVIOUS:                 secret.optional()      .describe('The administrator’s secret before it was changed, accepted beside it until this is taken out (ours).'),
  FAILED_ATTEMPTS_PER_MINUTE:           count.default(100)     .describe('Wrong keys that may come from one address; then those of less than 32 characters that have not been let in from there before are refused with 429 (ours).'),
  AUDIT_RETENTION:                      lifetime.default(31_536_000)
                                                               .describe('How long entries stay in the audit log (ours).'),
  AUDIT_REFUSALS_PER_MINUTE:            count.default(10)      .describe('Refusals of one address that get an entry of their own in the audit log, a minute; more are counted in one (ours).'),
  TENANT_REQUESTS_PER_MINUTE:           count.optional()       .describe('Requests of one tenant’s in a minute; more are refused with 429. Default: as many as come (ours).'),
  TENANT_REQUESTS_AT_ONCE:              count.default(64)      .describe('Requests of one tenant’s that are worked on at a time, and of one address that shows no key; the rest waits its turn (ours).'),
  TENANT_REQUESTS_WAITING:              count.default(1_000)   .describe('Requests of one tenant’s that may wait; more are refused with 429 (ours).'),
  API_KEY_ENABLED:                      flag.default(true)     .describe('Tenants authenticate with the `apikey` header; when false, everybody is the default wallet’s tenant.'),
  API_KEY_AUTHENTICATE_AS_DEFAULT_USER: flag.default(false)    .describe('Any `apikey` that is not empty is the default wallet’s tenant.'),
  API_KEY_AUTO_PROVISIONING:            flag.default(false)    .describe('An unknown `apikey` of 16 to 128 characters makes a wallet and an entity of its own.'),

  DEFAULT_WALLET_ENABLED:               flag.default(true)     .describe('Make a default wallet at first start.'),
  DEFAULT_WALLET_SEED:                  seedHex.optional()     .describe('Its seed, 128 hexadecimal digits. Default: random.'),
  DEFAULT_WALLET_WEBHOOK_URL:           http.optional()        .describe('Its webhook, stored when the wallet is made.'),
  DEFAULT_WALLET_WEBHOOK_API_KEY:       secret.optional()      .describe('Bearer token for that webhook.'),
  DEFAULT_WALLET_AUTH_API_KEY:          secret.optional()      .describe('Its `apikey`, of 16 to 128 characters. Default: a random one in the profile.'),

  GLOBAL_WEBHOOK_URL:                   http.optional()        .describe('Receives the events of all wallets.'),
  GLOBAL_WEBHOOK_API_KEY:               secret.optional()      .describe('Bearer token for the global webhook.'),
  EVENT_RETENTION:                      lifetime.default(2_592_000)
                                                               .describe('How long events stay in the log of their wallet, which `/events` shows; what a webhook was not told yet stays longer (ours).'),
  WEBHOOKS_PER_WALLET:                  count.default(10)      .describe('Webhooks that a wallet may have (ours).'),
  RECORDS_PER_WALLET:                   count.optional()       .describe('Records of connections, credentials and proofs that a wallet may have. Default: as many as come (ours).'),
  BYTES_PER_WALLET:                     z.coerce.number().int().min(1_048_576).optional()
                                                               .describe('Bytes that a wallet may have, with its schemas, credential definitions and presentation definitions; at least 1048576. Default: what the disk holds (ours).'),
  WEBHOOK_SECRET_OVERLAP:               seconds.default(86_400).describe('How long a webhook’s secret goes on to sign beside the one that replaces it (ours).'),

  CONNECT_INVITATION_EXPIRY:            seconds.default(300)   .describe('How long an invitation to connect may be answered.'),
  ISSUANCE_INVITATION_EXPIRY:           seconds.default(300)   .describe('How long an invitation with a credential offer may be answered.'),
  PRESENTATION_INVITATION_EXPIRY:       seconds.default(300)   .describe('How long an invitation with a proof request may be answered.'),
  FLOW_EXPIRY:                          lifetime.default(2_592_000)
                                                               .describe('How long a flow waits for its next step before it ends by itself and the other side is told (ours).'),
  MESSAGE_RETRY_FOR:                    seconds.default(86_400).describe('How long a message that the other side does not take is tried again (ours).'),
  DIDCOMM_MAX_RECEIVE_BYTES:            messageBytes.default(1_048_576)
                                                               .describe('Bytes of the largest DIDComm message that is taken, 16384 to 16777216 (ours).'),
  WALLET_IMPORT_MAX_BYTES:              count.default(1_073_741_824).describe('Bytes of the largest export of a wallet that is imported (ours).'),
  DEFAULT_JWT_VC_OFFER_DOMAIN:          z.string().min(1).default('default-domain')
                                                               .describe('Domain that a holder’s proof is bound to when an offer or a proof request names none.'),
  CREDENTIAL_SD_JWT_EXPIRY:             seconds.default(2_592_000)
                                                               .describe('How long an SD-JWT credential is valid that is offered without a validity.'),
  CREDENTIAL_LEEWAY:                    seconds.default(30)    .describe('Clock difference that a credential’s dates may have.'),
  PRESENTATION_LEEWAY:                  seconds.default(30)    .describe('Clock difference that a presentation’s dates may have.'),
  AUTH_CHALLENGE_EXPIRY:                seconds.default(120)   .describe('How long an authentication challenge may be answered, and its success be exchanged for a token (ours).'),
  DID_REQUEST_EXPIRY:                   seconds.default(86_400).describe('How long a DID request may be answered (ours).'),
  AUTH_DID_METHODS:                     didMethods.default(['peer']).describe('DID methods that may answer an authentication challenge, by commas: `peer`, `key`, `jwk`, `web`, `prism` (ours).'),
  AUTH_TOKEN_AUDIENCE:                  z.string().min(1).optional()
                                                               .describe('`aud` of the tokens that a successful challenge is exchanged for. Default: the public base URL of the HTTP API (ours).'),
  AUTH_TOKEN_LIFETIME:                  seconds.default(300)   .describe('How long such a token is valid (ours).'),
  ENTERPRISE_EVENTS:                    flag.default(false)    .describe('Webhooks are told of DID requests and challenges too: `DidRequestUpdated`, `AuthenticationChallengeUpdated` (ours).'),
  ENTERPRISE_SUBMISSIONS_PER_MINUTE:    count.default(600)     .describe('Answers to DID requests and challenges that are taken from one address; more are refused with 429 (ours).'),
  AGENT_TRUST_PROXY:                    flag.default(false)    .describe('The HTTP port is reached through a reverse proxy only: addresses are those it adds to `X-Forwarded-For` (ours).'),
  ENABLE_ANONCRED:                      flag.default(true)     .describe('AnonCreds: credential definitions, and credentials and proofs of this format. Without the optional package @hyperledger/identus-sdk it is off in any case.'),
  VDR_URL:                              ledger.optional()      .describe('The DID ledger: `sqlite:<path>`, which several daemons may share, or the base URL of a NeoPRISM node or of another agent. Default: `vdr.db` in the data folder (ours).'),
  VDR_CONFIRM_AFTER:                    seconds.default(0)     .describe('How long the embedded ledger takes to confirm an operation (ours).'),
  VDR_SERVE:                            flag.optional()        .describe('Serves the embedded ledger at `/api`, as a NeoPRISM node does: everybody who reaches the port can submit DID operations, without credentials. Default: only while the whole deployment is on this machine (ours).'),
  VDR_SUBMISSIONS_PER_MINUTE:           count.default(600)     .describe('DID operations that the served ledger takes from one address; more are refused with 429 (ours).'),
  DID_RESOLUTIONS_PER_MINUTE:           count.default(600)     .describe('DIDs that `GET /dids/{did}` resolves for one address; more are refused with 429 (ours).'),
  INVITATION_REPLIES_PER_MINUTE:          count.default(30)      .describe('Messages of holders of an invitation that are answered without a connection, such as trust pings, for one address and for one invitation; more are refused with 429 (ours).'),
  VDR_OPERATION_BYTES:                  z.coerce.number().int().min(1_024).max(64_000).default(32_768)
                                                               .describe('Bytes of the largest DID operation that the served ledger stores, 1024 to 64000; a larger one is refused with 400 (ours).'),
  VDR_BYTES:                            z.coerce.number().int().min(1_048_576).default(1_073_741_824)
                                                               .describe('Size of the ledger file from which on the served ledger stores no operations of others, at least 1048576; they are refused with 507, while this agent’s own wallets still publish (ours).'),
  DID_CACHE_LIFETIME:                   seconds.default(60)    .describe('How long documents of did:web, and states of a ledger that is elsewhere, are kept; 0 asks every time (ours).'),

  AGENT_MEDIATOR:                       flag.default(false)    .describe('Makes this agent a mediator for other people’s wallets, on the DIDComm port (ours).'),
  MEDIATOR_ACCOUNT_LIMIT:               count.default(10_000)  .describe('Wallets that may enrol with the mediator (ours).'),
  MEDIATOR_RECIPIENT_LIMIT:             count.default(1_000)   .describe('DIDs that a wallet may have messages taken for (ours).'),
  MEDIATOR_QUEUE_LIMIT:                 count.default(1_000)   .describe('Messages that may wait for one DID; more are refused until some are picked up (ours).'),
  MEDIATOR_QUEUE_BYTES:                 count.default(16_777_216)
                                                               .describe('Bytes that may wait for one wallet (ours).'),
  MEDIATOR_MESSAGE_LIFETIME:            seconds.default(2_592_000)
                                                               .describe('How long a message waits to be picked up before it is thrown away (ours).'),
  MEDIATOR_ACCOUNT_LIFETIME:            seconds.default(7_776_000)
                                                               .describe('How long a wallet that is not heard of, and that nothing waits for, stays enrolled (ours).'),
  MEDIATOR_ENROLMENTS_PER_HOUR:         count.default(300)     .describe('DIDs that may be enrolled from one address in an hour; more are refused with 429 (ours).'),
  MEDIATOR_ENROLMENTS_PER_DAY:          count.default(1_500)   .describe('The same in a day (ours).'),
  MEDIATOR_MESSAGES_PER_MINUTE:         count.default(6_000)   .describe('Messages that the mediator takes from one address; more are refused with 429 (ours).'),
  MEDIATOR_SOCKETS_PER_ADDRESS:         count.default(100)     .describe('WebSockets that one address may have open, of 1000 in all (ours).'),
  MEDIATOR_TRUST_PROXY:                 flag.default(false)    .describe('The DIDComm port is reached through a reverse proxy only: addresses are those it adds to `X-Forwarded-For` (ours).'),
} satisfies Record<string, z.ZodType>

export type Config = z.output<z.ZodObject<typeof variables>>

/** Secrets that everybody knows: the real agent's defaults, refused here (decisions.md §3). */
const knownSecrets = new Set(['admin', 'default', 'changeme', 'password'])

/**
 * Reads the configuration from environment variables; an empty value is as good as none.
 *
 * @throws {StartError} naming every variable that is wrong and why, but no value.
 */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const given = Object.fromEntries(
    Object.entries(env).filter(([name, value]) => name in variables && value !== ''),
  )
  const result = z.object(variables).safeParse(given)
  if (!result.success) {
    const reasons = result.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`)
    throw new StartError(`The configuration is not valid. ${reasons.join('. ')}.`, 2)
  }
  const config = result.data
  for (const name of ['ADMIN_TOKEN', 'ADMIN_TOKEN_PREVIOUS', 'DEFAULT_WALLET_AUTH_API_KEY'] as const) {
    if (config[name] && knownSecrets.has(config[name].reveal())) {
      throw new StartError(
        `${name} is a value that everybody knows. Choose another, or leave it out and a random one is made.`,
        2,
      )
    }
  }
  const elsewhere = (['AGENT_MASTER_KEY', 'AGENT_MASTER_KEY_FILE'] as const).find(
    (name) => config[name] !== undefined,
  )
  if (config.AGENT_MASTER_KEY_STORE === 'keyring' && elsewhere)
    throw new StartError(
      `AGENT_MASTER_KEY_STORE=keyring and ${elsewhere} are two locations of the master key. Leave one of them out.`,
      2,
    )
  if (
    !config.DEFAULT_WALLET_ENABLED &&
    (!config.API_KEY_ENABLED || config.API_KEY_AUTHENTICATE_AS_DEFAULT_USER)
  ) {
    throw new StartError(
      'Nobody could use this agent: without a default wallet, tenants need keys of their own. Set DEFAULT_WALLET_ENABLED=true, or API_KEY_ENABLED=true with API_KEY_AUTHENTICATE_AS_DEFAULT_USER=false.',
      2,
    )
  }
  return config
}

/** Takes the secrets of a configuration out of the environment that it was read from, so that no report of a crash and no child lists them. */
export function forgetSecrets(env: Record<string, string | undefined>, config: Config): void {
  for (const [name, value] of Object.entries(config)) if (value instanceof Secret) delete env[name]
}
