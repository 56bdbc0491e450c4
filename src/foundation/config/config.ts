/**
 * The environment variables of a daemon. Those that the Cloud Agent has too have the same name and meaning.
 *
 * The first file of a process hands the environment to `configure`. `test/docs.test.ts` compares the table in
 * docs/operate/configuration.md with this one.
 */
import * as z from 'zod'
import { fetchedMethods, namesOf } from '../../definitions/did-names.ts'
import { ConfigError } from './fault.ts'
import {
  baseUrl,
  count,
  challengeMethods,
  didMethods,
  flag,
  hosts,
  http,
  lan,
  lifetime,
  masterKey,
  messageBytes,
  metricsToken,
  namedHosts,
  origins,
  ports,
  seconds,
  secret,
  seedHex,
} from './values.ts'
import '../plain-issues.ts'
import { Secret } from '../secret.ts'
import { locationVariables } from './settings.ts'
import { findWrongLan } from './lan.ts'
import { nodeVariables } from './nodes.ts'
import { findWrongOidc, oidcSettingsOf, oidcVariables } from './oidc.ts'
import { findWrongTracing, tracingVariables } from './tracing.ts'
import { findWrongVdr, vdrVariables } from './vdr.ts'

// prettier-ignore
export const variables = {
  ...locationVariables,
  AGENT_LAN:                            lan.default('off')     .describe('Address in the local network that both servers answer at, and that their public URLs have: `auto`, or an IPv4 address of this machine in a private network. Excludes `AGENT_HOST` and the public URLs.'),
  AGENT_HTTPS:                          flag.optional()        .describe('Whether both servers speak HTTPS, with a certificate for development in `tls/` of the data folder if there is no other. Default: only with `AGENT_TLS_CERT_FILE`.'),
  AGENT_TLS_CERT_FILE:                  z.string().min(1).optional()
                                                               .describe('File of the certificate of both servers, in PEM, followed by its chain. Needs `AGENT_TLS_KEY_FILE`.'),
  AGENT_TLS_KEY_FILE:                   z.string().min(1).optional()
                                                               .describe('File of the private key of that certificate, in PEM, without a passphrase.'),
  REST_SERVICE_URL:                     baseUrl.optional()     .describe('Public base URL of the HTTP API. If it is on the public Internet, invitations are links to pages there. Default: the bound address.'),
  DIDCOMM_SERVICE_URL:                  baseUrl.optional()     .describe('Public base URL of the DIDComm endpoint, part of every peer DID. Default: the bound address.'),
  POLLUX_STATUS_LIST_REGISTRY_PUBLIC_URL:
                                        baseUrl.optional()     .describe('Public base URL of the status lists of new credentials. Issued credentials keep theirs. Default: `REST_SERVICE_URL`.'),
  AGENT_MASTER_KEY:                     masterKey.optional()   .describe('32 bytes in base64url that encrypt every secret on disk. Default: a file that the first start creates.'),
  AGENT_MASTER_KEY_FILE:                z.string().min(1).optional()
                                                               .describe('File of the master key. Default: `master.key` in the data folder.'),
  AGENT_MASTER_KEY_STORE:               z.enum(['file', 'keyring']).default('file')
                                                               .describe('`keyring` stores the master key in the keyring of the operating system. The next start moves a key in `master.key` there.'),
  AGENT_ALLOW_PRIVATE_NETWORK:          flag.default(false)    .describe('Whether the agent calls private and loopback addresses that a tenant or a peer names. Metadata services of clouds remain blocked.'),
  AGENT_ALLOW_HOSTS:                    namedHosts.optional()
                                                               .describe('Hosts that may be called at any address when a tenant or a peer names them, separated by commas: `hooks.example`, `.partner.example` (and its subdomains), `10.20.0.0/16`, `fd00::1`.'),
  AGENT_DENY_HOSTS:                     hosts.optional()       .describe('Hosts that are never called when a tenant or a peer names them, in the same form. `*` denies all hosts that `AGENT_ALLOW_HOSTS` does not list.'),
  AGENT_ALLOW_PORTS:                    ports.optional()       .describe('The only ports that are called when a tenant or a peer names them, such as `443,8000-8999`. Default: all ports except those that browsers block.'),
  AGENT_CORS_ORIGINS:                   origins.optional()     .describe('Origins of web pages that may call both servers, separated by commas, such as `https://app.example`. Default: none.'),
  AGENT_LOG_LEVEL:                      z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info')
                                                               .describe('Lowest level that is logged.'),
  AGENT_LOG_MAX_BYTES:                  z.coerce.number().int().min(65_536).default(10_485_760)
                                                               .describe('Bytes of `daemon.log` from which a daemon in the background begins a new file, at least 65536.'),
  AGENT_LOG_FILES:                      z.coerce.number().int().min(1).max(1_000).default(5)
                                                               .describe('Older log files that are kept, 1 to 1000. Older ones are deleted.'),
  METRICS_ENABLED:                      flag.default(true)     .describe('Whether the agent counts what it does, for `GET /_system/metrics`.'),
  METRICS_TOKEN:                        metricsToken.optional().describe('Bearer token for `GET /_system/metrics`, at least 32 characters. Default: open to all if the whole deployment is on this machine, else to the administrator.'),
  AGENT_CONNECTIONS:                    count.default(5_000)   .describe('Open connections of each of the two servers. Further connections are closed.'),
  AGENT_CONNECTIONS_PER_ADDRESS:        count.default(1_000)   .describe('Open connections of one address to each server. Further connections are closed. There is no such limit behind a trusted proxy.'),
  AGENT_OPEN_WALLETS:                   count.default(200)     .describe('Wallet files that are open at the same time. An open file takes about 160 kB, and opening a file 3 ms.'),

  ADMIN_TOKEN:                          secret.optional()      .describe('The administrator’s secret, sent as `x-admin-api-key`. Default: a random one in the profile.'),
  ADMIN_TOKEN_PREVIOUS:                 secret.optional()      .describe('The previous secret of the administrator, which is also accepted.'),
  FAILED_ATTEMPTS_PER_MINUTE:           count.default(100)     .describe('Wrong keys of one address in a minute. After that, keys of less than 32 characters are answered with 429, unless they were accepted from that address before.'),
  AUDIT_RETENTION:                      lifetime.default(31_536_000)
                                                               .describe('Time for which entries stay in the audit log.'),
  AUDIT_REFUSALS_PER_MINUTE:            count.default(10)      .describe('Refused requests of one address in a minute that get their own entry in the audit log. Further ones share an entry with a count.'),
  TENANT_REQUESTS_PER_MINUTE:           count.optional()       .describe('Requests of one tenant in a minute. Further ones are answered with 429. Default: no limit.'),
  TENANT_REQUESTS_AT_ONCE:              count.default(64)      .describe('Requests that are processed at the same time, for one tenant or one address without a key. Further ones wait.'),
  TENANT_REQUESTS_WAITING:              count.default(1_000)   .describe('Requests of one tenant that may wait. Further ones are answered with 429.'),
  API_KEY_ENABLED:                      flag.default(true)     .describe('Whether tenants authenticate with the `apikey` header. If false, and without bearer tokens, every request is one of the default wallet’s tenant.'),
  API_KEY_AUTHENTICATE_AS_DEFAULT_USER: flag.default(false)    .describe('Whether any `apikey` that is not empty authenticates as the default wallet’s tenant.'),
  API_KEY_AUTO_PROVISIONING:            flag.default(false)    .describe('Whether an unknown `apikey` of 16 to 128 characters creates a wallet and an entity.'),

  ...oidcVariables,

  DEFAULT_WALLET_ENABLED:               flag.default(true)     .describe('Whether the first start creates a default wallet.'),
  DEFAULT_WALLET_SEED:                  seedHex.optional()     .describe('Seed of the default wallet, 128 hexadecimal digits. Default: random.'),
  DEFAULT_WALLET_WEBHOOK_URL:           http.optional()        .describe('Webhook of the default wallet, stored when the wallet is created.'),
  DEFAULT_WALLET_WEBHOOK_API_KEY:       secret.optional()      .describe('Bearer token for that webhook.'),
  DEFAULT_WALLET_AUTH_API_KEY:          secret.optional()      .describe('`apikey` of the default wallet, 16 to 128 characters. Default: a random one in the profile.'),

  GLOBAL_WEBHOOK_URL:                   http.optional()        .describe('Receiver of the events of all wallets.'),
  GLOBAL_WEBHOOK_API_KEY:               secret.optional()      .describe('Bearer token for the global webhook.'),
  EVENT_RETENTION:                      lifetime.default(2_592_000)
                                                               .describe('Time for which events stay in the log of a wallet (`/events`). Events that a webhook has not received yet stay longer.'),
  PROOF_RETENTION:                      lifetime.optional()    .describe('Time after which records of ended proofs are deleted, with the presentations in them. Default: they stay.'),
  FAILED_RECORD_RETENTION:              lifetime.optional()    .describe('Time after which records of flows that failed or expired are deleted: connections, credentials and proofs. Default: they stay.'),
  MESSAGE_RETENTION:                    lifetime.optional()    .describe('Time after which basic messages are deleted. Default: they stay.'),
  WEBHOOKS_PER_WALLET:                  count.default(10)      .describe('Webhooks of a wallet.'),
  RECORDS_PER_WALLET:                   count.optional()       .describe('Records of connections, credentials and proofs of a wallet. Default: no limit.'),
  BYTES_PER_WALLET:                     z.coerce.number().int().min(1_048_576).optional()
                                                               .describe('Bytes of a wallet with its schemas, credential definitions, presentation definitions and VDR entries, at least 1048576. Default: no limit.'),
  WEBHOOK_SECRET_OVERLAP:               seconds.default(86_400).describe('Time for which a replaced secret of a webhook or of an issuer continues to sign beside the new one.'),

  CONNECT_INVITATION_EXPIRY:            seconds.default(300)   .describe('Time in which an invitation to connect can be accepted, unless it has `expiresIn`.'),
  ISSUANCE_INVITATION_EXPIRY:           seconds.default(300)   .describe('Time in which an invitation with a credential offer can be accepted, unless it has `expiresIn`.'),
  PRESENTATION_INVITATION_EXPIRY:       seconds.default(300)   .describe('Time in which an invitation with a proof request can be accepted, unless it has `expiresIn`.'),
  FLOW_EXPIRY:                          lifetime.default(2_592_000)
                                                               .describe('Time for which a flow waits for its next step. Then it ends, and the other side gets a problem report.'),
  MESSAGE_RETRY_FOR:                    seconds.default(86_400).describe('Time for which an undelivered message is sent again.'),
  DIDCOMM_MAX_RECEIVE_BYTES:            messageBytes.default(1_048_576)
                                                               .describe('Bytes of the largest DIDComm message that is accepted, 16384 to 16777216.'),
  WALLET_IMPORT_MAX_BYTES:              count.default(1_073_741_824).describe('Bytes of the largest wallet export that can be imported.'),
  DEFAULT_JWT_VC_OFFER_DOMAIN:          z.string().min(1).default('default-domain')
                                                               .describe('Domain that a holder’s proof is bound to when an offer or a proof request names none.'),
  CREDENTIAL_SD_JWT_EXPIRY:             seconds.default(2_592_000)
                                                               .describe('Validity of an SD-JWT credential whose offer names none.'),
  STATUS_LIST_MAX_BYTES:                count.default(4_194_304).describe('Bytes of the largest status list that is read, uncompressed: a byte has eight entries of one bit.'),
  CREDENTIAL_LEEWAY:                    seconds.default(30)    .describe('Tolerated clock difference in the dates of credentials.'),
  PRESENTATION_LEEWAY:                  seconds.default(30)    .describe('Tolerated clock difference in the dates of presentations.'),
  AUTH_CHALLENGE_EXPIRY:                seconds.default(120)   .describe('Time in which an authentication challenge can be answered, and a successful one exchanged for a token.'),
  DID_REQUEST_EXPIRY:                   seconds.default(86_400).describe('Time in which a DID request can be answered.'),
  AUTH_DID_METHODS:                     didMethods.default(['peer']).describe(`DID methods that may answer an authentication challenge, separated by commas: ${challengeMethods.map((name) => `\`${name}\``).join(', ')}.`),
  AUTH_TOKEN_AUDIENCE:                  z.string().min(1).optional()
                                                               .describe('`aud` of the tokens that successful challenges are exchanged for. Default: the public base URL of the HTTP API.'),
  AUTH_TOKEN_LIFETIME:                  seconds.default(300)   .describe('Validity of such a token.'),
  ENTERPRISE_EVENTS:                    flag.default(false)    .describe('Whether webhooks also receive events of DID requests and challenges: `DidRequestUpdated`, `AuthenticationChallengeUpdated`.'),
  ENTERPRISE_OPENID4VP:                 flag.default(false)    .describe('Whether DID requests and challenges can be answered by wallets of OpenID4VP too, unless they say how.'),
  ENTERPRISE_SUBMISSIONS_PER_MINUTE:    count.default(600)     .describe('Answers to DID requests and challenges from one address in a minute. Further ones are answered with 429.'),
  AGENT_TRUST_PROXY:                    flag.default(false)    .describe('Whether the HTTP port is reachable only through a reverse proxy. Client addresses are those that it adds to `X-Forwarded-For`.'),
  ENABLE_ANONCRED:                      flag.default(true)     .describe('AnonCreds: credential definitions, credentials and proofs of this format.'),
  ...vdrVariables,
  DID_RESOLUTIONS_PER_MINUTE:           count.default(600)     .describe('DIDs that `GET /dids/{did}` resolves for one address in a minute. Further requests are answered with 429.'),
  SHORT_URL_REQUESTS_PER_MINUTE:        count.default(600)     .describe('Invitations, DID requests and challenges that one address retrieves by short URLs in a minute. Further requests are answered with 429.'),
  OID4VCI_CLAIMS_TIMEOUT:               lifetime.default(5)    .describe('Time in which a claims source must answer. Then the agent asks once more.'),
  OID4VCI_CLAIMS_RETRY_FOR:             seconds.default(86_400).describe('Time for which a claims source that does not answer is asked again, unless its configuration has `onFailure` `fail`.'),
  OID4VC_REFRESH:                       flag.default(true)     .describe('Whether wallets renew credentials of OpenID4VCI issuers by themselves, if the issuer gave a refresh token.'),
  OID4VCI_REQUESTS_PER_MINUTE:          count.default(600)     .describe('Requests of wallets to OpenID4VCI issuers (metadata, offers, tokens, nonces, credentials) from one address in a minute. Further ones are answered with 429.'),
  OID4VP_REQUESTS_PER_MINUTE:           count.default(600)     .describe('Requests of wallets to OpenID4VP verifiers (request objects, responses) from one address in a minute. Further ones are answered with 429.'),
  INVITATION_REPLIES_PER_MINUTE:          count.default(30)      .describe('Messages without a connection, such as trust pings, that are answered in a minute, for one address and for one invitation. Further ones are answered with 429.'),
  DID_CACHE_LIFETIME:                   seconds.default(60)    .describe(`Time for which documents of ${namesOf(fetchedMethods, 'and')} and states of a remote ledger are cached. 0 disables the cache.`),

  ...nodeVariables,

  AGENT_MEDIATOR:                       flag.default(false)    .describe('Whether the agent is a mediator for other wallets, on the DIDComm port.'),
  MEDIATOR_ACCOUNT_LIMIT:               count.default(10_000)  .describe('Wallets that may enrol with the mediator.'),
  MEDIATOR_RECIPIENT_LIMIT:             count.default(1_000)   .describe('Recipient DIDs of an enrolled wallet.'),
  MEDIATOR_QUEUE_LIMIT:                 count.default(1_000)   .describe('Messages that may wait for one DID. Further ones are refused until the wallet picks some up.'),
  MEDIATOR_QUEUE_BYTES:                 count.default(16_777_216)
                                                               .describe('Bytes that may wait for one wallet.'),
  MEDIATOR_MESSAGE_LIFETIME:            seconds.default(2_592_000)
                                                               .describe('Time after which a waiting message is deleted.'),
  MEDIATOR_ACCOUNT_LIFETIME:            seconds.default(7_776_000)
                                                               .describe('Time after which an inactive wallet without waiting messages loses its enrolment.'),
  MEDIATOR_ENROLMENTS_PER_HOUR:         count.default(300)     .describe('DIDs that may be enrolled from one address in an hour. Further ones are answered with 429.'),
  MEDIATOR_ENROLMENTS_PER_DAY:          count.default(1_500)   .describe('DIDs that may be enrolled from one address in a day.'),
  MEDIATOR_MESSAGES_PER_MINUTE:         count.default(6_000)   .describe('Messages that the mediator accepts from one address in a minute. Further ones are answered with 429.'),
  MEDIATOR_SOCKETS:                     z.coerce.number().int().min(1).max(100_000).default(1_000)
                                                               .describe('Open WebSockets of the mediator, 1 to 100000. `AGENT_CONNECTIONS` does not count them. Further ones are answered with 503.'),
  MEDIATOR_SOCKETS_PER_ADDRESS:         count.default(100)     .describe('Open WebSockets of one address. `AGENT_CONNECTIONS_PER_ADDRESS` does not count them. Further ones are answered with 429.'),
  MEDIATOR_TRUST_PROXY:                 flag.default(false)    .describe('Whether the DIDComm port is reachable only through a reverse proxy. Client addresses are those that it adds to `X-Forwarded-For`.'),

  ...tracingVariables,
} satisfies Record<string, z.ZodType>

export type Config = z.output<z.ZodObject<typeof variables>>

/** Secrets that may not be `knownSecrets`. */
export const guardedSecrets = ['ADMIN_TOKEN', 'ADMIN_TOKEN_PREVIOUS', 'DEFAULT_WALLET_AUTH_API_KEY'] as const

/** Default secrets of the Cloud Agent and common passwords, which are refused. */
export const knownSecrets: readonly string[] = ['admin', 'default', 'changeme', 'password']

type Wrong = { name: string; reason: string; remedy?: string }

/**
 * Parses values in the form of environment variables. An empty value counts as unset. Returns the
 * configuration, or all that is wrong, without values of secrets.
 */
export function parseConfig(
  values: Readonly<Record<string, string | undefined>>,
): { config: Config; wrong: [] } | { config: undefined; wrong: Wrong[] } {
  const given = Object.fromEntries(
    Object.entries(values).filter(([name, value]) => Object.hasOwn(variables, name) && value !== ''),
  )
  const { data: config, error } = z.object(variables).safeParse(given)
  const wrong = config
    ? findContradictions(config, given)
    : error.issues.map(({ path, message }) => ({ name: path.join('.'), reason: message }))
  return config && wrong.length === 0 ? { config, wrong: [] } : { config: undefined, wrong }
}

/** Values that are valid by themselves, but well known, or not together with others. */
function findContradictions(config: Config, given: Readonly<Record<string, unknown>>): Wrong[] {
  const wrong: Wrong[] = guardedSecrets
    .filter((name) => config[name] && knownSecrets.includes(config[name].reveal()))
    .map((name) => ({
      name,
      reason: 'is a well-known value',
      remedy: 'Choose another, or unset it to have a random one generated.',
    }))
  const pair = ['AGENT_TLS_CERT_FILE', 'AGENT_TLS_KEY_FILE'] as const
  const [file, missing] = [pair.find((name) => name in given), pair.find((name) => !(name in given))]
  if (file !== undefined && missing !== undefined)
    wrong.push({ name: file, reason: `is set without ${missing}`, remedy: 'Set both or neither.' })
  const elsewhere = (['AGENT_MASTER_KEY', 'AGENT_MASTER_KEY_FILE'] as const).find(
    (name) => config[name] !== undefined,
  )
  if (config.AGENT_MASTER_KEY_STORE === 'keyring' && elsewhere)
    wrong.push({
      name: 'AGENT_MASTER_KEY_STORE',
      reason: `is keyring, and ${elsewhere} is another location of the master key`,
      remedy: 'Unset one of them.',
    })
  if (
    !config.DEFAULT_WALLET_ENABLED &&
    !oidcSettingsOf(config) &&
    (!config.API_KEY_ENABLED || config.API_KEY_AUTHENTICATE_AS_DEFAULT_USER)
  )
    wrong.push({
      name: 'DEFAULT_WALLET_ENABLED',
      reason:
        'is false, and this agent would have no users: without a default wallet, tenants need their own keys',
      remedy:
        'Set DEFAULT_WALLET_ENABLED=true, or API_KEY_ENABLED=true with API_KEY_AUTHENTICATE_AS_DEFAULT_USER=false.',
    })
  const others = [findWrongTracing, findWrongVdr].flatMap((find) => find(config))
  return [...wrong, ...findWrongLan(config, given), ...others, ...findWrongOidc(config, given)]
}

/**
 * Reads the configuration from environment variables. An empty value counts as unset.
 *
 * @throws {ConfigError} with the name of each invalid variable and the reason, but without values
 */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const { config, wrong } = parseConfig(env)
  if (config) return config
  throw new ConfigError(wrong.map((each) => ({ ...each, source: 'environment' as const })))
}

/**
 * Deletes the secrets of a configuration from the environment, so that crash reports and child processes do
 * not contain them.
 */
export function forgetSecrets(env: Record<string, string | undefined>, config: Config): void {
  for (const [name, value] of Object.entries(config)) if (value instanceof Secret) delete env[name]
}
