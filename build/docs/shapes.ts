/**
 * The schemas of what each command prints with `--json`: the response body of the operation that its file
 * names, and for other commands the row here. A row without a type adds a note.
 */
import { OfferObject } from '../../src/exchange/oid4vci/offer-object.ts'
import * as z from 'zod'
import { Running } from '../../src/foundation/running.ts'
import { readCommands } from './manifest.ts'
import {
  answer,
  backupAtRest,
  bodyOf,
  CheckedConfig,
  Daemon,
  DecodedText,
  Service,
  Explanation,
  Key,
  lines,
  operated,
  own,
  printedBy,
  Profile,
  removed,
  Replayed,
  ShownConfig,
  type Shape,
} from './shape.ts'

const twice = 'With --wait twice: as it was made, and as it has become.'
const inEnvelope = 'With --did-url a PrismEnvelope, whose resource is the schema in base64url.'
const credential = answer('GET /issue-credentials/records/{recordId}')

// prettier-ignore
export const rows: Readonly<Record<string, Partial<Shape>>> = {
  accept: own(
    z
      .union([
        bodyOf('POST /connection-invitations'),
        bodyOf('GET /issue-credentials/records/{recordId}'),
        bodyOf('GET /present-proof/presentations/{presentationId}'),
        bodyOf('POST /onboard/answers'),
        bodyOf('POST /did-authentication/answers'),
      ])
      .meta({ id: 'AnsweredLink' }),
    'By the kind of the link: the connection, the credential record, the presentation record, or the answer to a DID request or a challenge.',
  ),
  'audit:verify': { note: 'Also when the log was altered, with the exit code that says so.' },
  'signin:create': { note: twice },
  'signin:respond': answer('POST /did-authentication/answers'),
  'signin:show': answer('GET /did-authentication/challenges/{challengeId}'),
  'backup:create': { note: 'Also when wallets are missing, with exit code 1.' },
  'backup:restore': own(backupAtRest),
  'backup:verify': own(backupAtRest, 'Also when it is not sound, with the exit code that says so.'),
  completion: own(z.object({ shell: z.enum(['bash', 'zsh', 'fish']), script: z.string() }).meta({ id: 'CompletionScript' })),
  'config:schema': own(z.looseObject({ $schema: z.string(), properties: z.record(z.string(), z.unknown()) }).meta({ id: 'ConfigSchema' }), 'A JSON Schema (2020-12).'),
  'config:set': own(z.object({ name: z.string(), value: z.string().describe('*** for a secret.'), path: z.string() }).meta({ id: 'ChangedSetting' })),
  'config:show': own(ShownConfig),
  'config:unset': own(z.object({ name: z.string(), removedFrom: z.array(z.string()).describe('Empty when no file had it.') }).meta({ id: 'RemovedSetting' })),
  'issuer:preview': own(
    z
      .object({
        configurationId: z.string(),
        locale: z.string().optional(),
        name: z.string(),
        description: z.string().optional(),
        issuer: z.string().optional(),
        logo: z.string().optional().describe('What the logo shows.'),
        colours: z.object({ backgroundColor: z.string(), textColor: z.string() }).optional(),
        claims: z.array(z.object({ path: z.string(), label: z.string().optional() })),
        output: z.string().optional().describe('The file of the card.'),
      })
      .meta({ id: 'CredentialPreview' }),
  ),
  'issuer:offer': own(
    OfferObject.extend({
      credentialOffer: z.string().describe('The link for wallets.'),
      page: z.string().describe('The page for browsers.'),
    }).meta({ id: 'StaticCredentialOffer' }),
  ),
  'config:validate': own(CheckedConfig, 'Also when it is not valid, with exit code 2.'),
  'connection:accept': answer('POST /connection-invitations'),
  'connection:invite': { note: twice },
  'credential:accept-invitation': credential,
  'credential:export': own(z.object({ recordId: z.string(), credential: z.string().optional(), file: z.string().optional() }).meta({ id: 'ExportedCredential' }), 'With --as json what the credential says, as `content` of credential show.'),
  'credential:offer': { note: 'With --invitation and --wait twice: as it was made, and as it has become. With --oid4vci the response of POST /oid4vci/credential-offers. With --csv the counts: rows, offered, failed, before, and report, the file of the results.' },
  'credential:revoke': credential,
  'credential:show': own(
    (bodyOf('GET /issue-credentials/records/{recordId}') as z.ZodObject)
      .extend({ content: bodyOf('GET /issue-credentials/records/{recordId}/credential').optional() })
      .meta({ id: 'ShownCredential' }),
    'The record, and once there is a credential, what it says.',
  ),
  'credential:status-list': { note: 'The list itself, a StatusList2021 credential.' },
  'credential:verify': own(z.object({ valid: z.boolean() }).extend((bodyOf('POST /verification/credential') as z.ZodArray<z.ZodObject>).element.shape).meta({ id: 'VerifiedCredential' }), 'Also when it is not valid, with exit code 8.'),
  demo: own(z.looseObject({ scenario: z.string(), totalMs: z.number() }).meta({ id: 'DemoSummary' }), 'The parts of the demonstration, with their times in milliseconds.'),
  'template:list': own(z.object({ contents: z.array(z.object({ name: z.string(), title: z.string(), summary: z.string(), claims: z.array(z.string()) })) }).meta({ id: 'TemplateList' })),
  'template:show': own(z.object({ name: z.string(), title: z.string(), summary: z.string(), display: z.object({ backgroundColor: z.string(), textColor: z.string() }), schema: z.looseObject({ $schema: z.string(), properties: z.record(z.string(), z.unknown()) }).describe('A JSON Schema (2020-12).'), example: z.record(z.string(), z.unknown()).describe('Claims that satisfy the schema.') }).meta({ id: 'ShownTemplate' })),
  'daemon:logs': lines(z.looseObject({ level: z.number(), time: z.number().describe('In milliseconds since 1970.'), msg: z.string().optional() }).meta({ id: 'LogLine' }), 'As the daemon writes them.'),
  'daemon:install': own(Service.extend({ manager: z.enum(['systemd', 'launchd']), dataDir: z.string(), installed: z.boolean().describe('False with --dry-run.'), content: z.string().optional().describe('The file, with --dry-run.') }).meta({ id: 'InstalledService' })),
  'daemon:restart': own(Daemon.extend({ previousPid: z.number() }).meta({ id: 'RestartedDaemon' })),
  'daemon:uninstall': own(Service.extend({ dataDir: z.string().optional(), removed: z.boolean().describe('False when there was none.') }).meta({ id: 'UninstalledService' })),
  'daemon:start': own(Daemon.extend({ started: z.boolean().describe('False when it ran already.') }).meta({ id: 'StartedDaemon' })),
  'daemon:status': own(Daemon.extend({ version: z.string(), startedAt: z.string(), ...Running.pick({ store: true, node: true }).shape, service: z.object({ manager: z.enum(['systemd', 'launchd']), name: z.string(), isSystem: z.boolean() }).optional().describe('The service that the daemon is.') }).meta({ id: 'RunningDaemon' })),
  'daemon:stop': own(z.object({ dataDir: z.string(), pid: z.number().optional(), stopped: z.boolean().describe('False when there was none.') }).meta({ id: 'StoppedDaemon' })),
  'dcql:from': own(z.object({ credentials: z.array(z.looseObject({ id: z.string(), format: z.string() })) }).meta({ id: 'PrintedDcqlQuery' }), 'A DCQL query.'),
  decode: own(DecodedText, 'Also when a check has failed, with exit code 8.'),
  'did:create': own(
    operated.partial().extend({ did: z.string(), longFormDid: z.string() }).meta({ id: 'CreatedDid' }),
    'With --publish also the operation, with --wait also the DID as it is then.',
  ),
  'did:deactivate': own(operated, 'With --wait also the DID as it is then.'),
  'did:publish': own(operated, 'With --wait also the DID as it is then.'),
  'did:update': own(operated, 'With --wait also the DID as it is then.'),
  'didcomm:ping': own((bodyOf('GET /didcomm/pings/{id}') as z.ZodObject).extend({ milliseconds: z.number() }).meta({ id: 'AnsweredPing' })),
  'didcomm:unpack': { note: 'The contents of the message are printed only with --show.' },
  doctor: answer('GET /_system/doctor', 'Also when a check has failed, with the exit code that says so.'),
  login: own(z.object({ profile: z.string(), issuer: z.string(), clientId: z.string(), expiresAt: z.string().optional() }).meta({ id: 'SignedIn' }), 'First an object with the address to open, and the code for --device.'),
  logout: own(z.object({ profile: z.string(), issuer: z.string(), revoked: z.boolean() }).meta({ id: 'SignedOut' })),
  explain: own(z.object({ contents: z.array(Explanation) }).meta({ id: 'Explanations' })),
  'event:listen': lines(bodyOf('GET /events/{id}'), 'Each event as it comes.'),
  'event:replay': Replayed,
  'event:tail': lines(bodyOf('GET /events/{id}'), 'Each event as it comes.'),
  init: own(z.object({ file: z.string(), profile: z.string() }).meta({ id: 'NewConfig' })),
  'issuer:show': own(
    (bodyOf('POST /oid4vci/issuers') as z.ZodObject)
      .extend({ metadata: bodyOf('GET /oid4vci/issuers/{issuerId}/.well-known/openid-credential-issuer') })
      .meta({ id: 'ShownIssuer' }),
    'The issuer, and the metadata that wallets read.',
  ),
  'issuer:configuration:remove': removed,
  'oid4vc:receive': credential,
  'oid4vc:refresh': credential,
  'onboard:create': { note: twice },
  'onboard:submit': answer('POST /onboard/answers'),
  'onboard:show': answer('GET /onboard/did-requests/{didRequestId}'),
  'profile:add': own(Profile),
  'profile:list': own(z.object({ contents: z.array(Profile) }).meta({ id: 'Profiles' })),
  'profile:remove': own(z.object({ name: z.string(), removed: z.literal(true) }).meta({ id: 'RemovedProfile' })),
  'profile:show': own(Profile),
  'profile:use': own(z.object({ name: z.string(), inUse: z.boolean().describe('False when an environment variable goes over it.') }).meta({ id: 'UsedProfile' })),
  'proof:accept-invitation': answer('GET /present-proof/presentations/{presentationId}'),
  'proof:request': { note: 'With --invitation and --wait twice: as it was made, and as it has become.' },
  'proof:show': answer('GET /present-proof/presentations/{presentationId}'),
  'creddef:list': answer('GET /credential-definition-registry/definitions', 'With --did-url its contents are each a PrismEnvelope.'),
  'creddef:show': answer('GET /credential-definition-registry/definitions/{guid}', 'With --did-url a PrismEnvelope, whose resource is the definition’s record in base64url. With --raw the definition alone.'),
  run: own(z.object({ steps: z.array(z.object({ id: z.string().optional(), command: z.string(), exitCode: z.number(), ms: z.number(), result: z.unknown().optional() }).meta({ id: 'StepResult' })) }).meta({ id: 'ScenarioResult' }), 'Also when a step fails, with the steps so far.'),
  'schema:list': answer('GET /schema-registry/schemas', 'With --did-url its contents are each a PrismEnvelope.'),
  'schema:publish': answer('GET /schema-registry/schemas/{guid}', inEnvelope),
  'schema:show': answer('GET /schema-registry/schemas/{guid}', `${inEnvelope} With --raw the JSON schema alone.`),
  'schema:validate': { note: 'Also when something is wrong, with exit code 8.' },
  'tenant:create': own(z.object({ id: z.string(), name: z.string(), walletId: z.string(), ...Key }).meta({ id: 'CreatedTenant' })),
  'tenant:remove': own(z.object({ id: z.string(), walletId: z.string(), removed: z.literal(true), walletRemoved: z.boolean() }).meta({ id: 'RemovedTenant' })),
  'tenant:key:create': own((bodyOf('POST /iam/entities/{id}/api-keys') as z.ZodObject).extend(Key).meta({ id: 'CreatedKey' })),
  trace: { note: 'With --follow its steps alone, one a line.' },
  version: own(z.object({ name: z.string(), version: z.string(), platform: z.string(), node: z.string() }).meta({ id: 'ProgramVersion' })),
  'vdr:remove': own(z.object({ url: z.string(), removed: z.literal(true), operationId: z.string().optional() }).meta({ id: 'RemovedVdrEntry' })),
  'vdr:show': own(z.object({ url: z.string(), content: z.string().describe('The content in base64.') }).meta({ id: 'VdrEntry' })),
  'wallet:export': own(z.object({ walletId: z.guid(), file: z.string(), bytes: z.number(), moved: z.boolean() }).meta({ id: 'WalletExport' })),
  'wallet:grant': own(z.object({ walletId: z.guid(), subject: z.string(), granted: z.literal(true) }).meta({ id: 'GrantedPermission' })),
  'wallet:move': answer('POST /wallets/import'),
  'wallet:revoke': own(z.object({ walletId: z.guid(), subject: z.string(), revoked: z.literal(true) }).meta({ id: 'RevokedPermission' })),
  'webhook:replay': Replayed,
  'webhook:secret': own(z.object({ id: z.string(), signed: z.literal(false).optional().describe('With --remove.'), secret: z.string().optional(), previousUntil: z.string().optional() }).meta({ id: 'RenewedSecret' })),
}

/** By command, as oclif names them. `test/commands/json.test.ts` compares them with what is printed. */
export const shapes: Readonly<Record<string, Shape>> = Object.fromEntries(
  readCommands()
    .filter(({ flags }) => flags['json'] !== undefined)
    .map(({ id }) => [id, shapeOf(id)]),
)

function shapeOf(id: string): Shape {
  const shape = { ...printedBy(id), ...rows[id] }
  if (!shape.type)
    throw new TypeError(
      `agent ${id.replaceAll(':', ' ')} prints no single response: add its shape to build/docs/shapes.ts`,
    )
  return { ...shape, type: shape.type }
}
