/** The schemas of what each command prints with `--json`: a response body of the API, or a shape of the command. */
import * as z from 'zod'
import { Running } from '../../src/foundation/running.ts'
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
  Profile,
  removed,
  Replayed,
  ShownConfig,
  type Shape,
} from './shape.ts'

const twice = 'With --wait twice: as it was made, and as it has become.'
const connection = answer('GET /connections/{connectionId}')
const invited = answer('POST /connections', twice)
const credential = answer('GET /issue-credentials/records/{recordId}')
const proof = answer('GET /present-proof/presentations/{presentationId}')
const didRequest = answer('GET /onboard/did-requests/{didRequestId}')
const challenge = answer('GET /did-authentication/challenges/{challengeId}')
const schema = answer(
  'GET /schema-registry/schemas/{guid}',
  'With --did-url a PrismEnvelope, whose resource is the schema in base64url.',
)
const definition = answer(
  'GET /credential-definition-registry/definitions/{guid}',
  'With --did-url a PrismEnvelope, whose resource is the definition’s record in base64url.',
)
const tenant = answer('GET /iam/entities/{id}')

/** By command, as oclif names them. A test checks that the table has all commands, and compares the shapes with the output. */
// prettier-ignore
export const shapes: Readonly<Record<string, Shape>> = {
  'audit:list':   answer('GET /audit'),
  'audit:verify': answer('GET /audit/verification', 'Also when the log was altered, with the exit code that says so.'),

  'auth:create':  { ...challenge, note: twice },
  'auth:list':    answer('GET /did-authentication/challenges'),
  'auth:remove':  answer('DELETE /did-authentication/challenges/{challengeId}'),
  'auth:respond': answer('POST /did-authentication/answers'),
  'auth:show':    challenge,
  'auth:token':   answer('POST /did-authentication/challenges/{challengeId}/token'),

  'backup:create':  answer('POST /_system/backups', 'Also when wallets are missing, with exit code 1.'),
  'backup:restore': own(backupAtRest),
  'backup:verify':  own(backupAtRest, 'Also when it is not sound, with the exit code that says so.'),

  completion: own(z.object({ shell: z.enum(['bash', 'zsh', 'fish']), script: z.string() }).meta({ id: 'CompletionScript' })),

  'config:schema':   own(z.looseObject({ $schema: z.string(), properties: z.record(z.string(), z.unknown()) }).meta({ id: 'ConfigSchema' }), 'A JSON Schema (2020-12).'),
  'config:show':     own(ShownConfig),
  'config:validate': own(CheckedConfig, 'Also when it is not valid, with exit code 2.'),

  'connection:accept': connection,
  'connection:invite': invited,
  'connection:list':   answer('GET /connections'),
  'connection:remove': removed,
  'connection:show':   connection,
  'connection:update': connection,

  'credential:accept':            credential,
  'credential:accept-invitation': credential,
  'credential:export': own(z.object({ recordId: z.string(), credential: z.string().optional(), file: z.string().optional() }).meta({ id: 'ExportedCredential' }), 'With --as json what the credential says, as `content` of credential show.'),
  'credential:issue':       credential,
  'credential:list':        answer('GET /issue-credentials/records'),
  'credential:offer':       { ...credential, note: 'With --invitation and --wait twice: as it was made, and as it has become. With --oid4vci the response of POST /oid4vci/issuers/{issuerId}/credential-offers. With --csv the counts: rows, offered, failed, before, and report, the file of the results.' },
  'credential:reject':      credential,
  'credential:remove':      removed,
  'credential:revoke':      credential,
  'credential:show': own(
    (bodyOf('GET /issue-credentials/records/{recordId}') as z.ZodObject)
      .extend({ content: bodyOf('GET /issue-credentials/records/{recordId}/credential').optional() })
      .meta({ id: 'ShownCredential' }),
    'The record, and once there is a credential, what it says.',
  ),
  'credential:status-list': answer('GET /credential-status/{id}', 'The list itself, a StatusList2021 credential.'),
  'credential:verify': own(z.object({ valid: z.boolean() }).extend((bodyOf('POST /verification/credential') as z.ZodArray<z.ZodObject>).element.shape).meta({ id: 'VerifiedCredential' }), 'Also when it is not valid, with exit code 8.'),

  demo: own(z.looseObject({ scenario: z.string(), totalMs: z.number() }).meta({ id: 'DemoSummary' }), 'What was done, and how long each part took, in milliseconds.'),

  'daemon:logs':   lines(z.looseObject({ level: z.number(), time: z.number().describe('In milliseconds since 1970.'), msg: z.string().optional() }).meta({ id: 'LogLine' }), 'As the daemon writes them.'),
  'daemon:install': own(Service.extend({ manager: z.enum(['systemd', 'launchd']), dataDir: z.string(), installed: z.boolean().describe('False with --dry-run.'), content: z.string().optional().describe('The file, with --dry-run.') }).meta({ id: 'InstalledService' })),
  'daemon:restart': own(Daemon.extend({ previousPid: z.number() }).meta({ id: 'RestartedDaemon' })),
  'daemon:uninstall': own(Service.extend({ dataDir: z.string().optional(), removed: z.boolean().describe('False when there was none.') }).meta({ id: 'UninstalledService' })),
  'daemon:start':  own(Daemon.extend({ started: z.boolean().describe('False when it ran already.') }).meta({ id: 'StartedDaemon' })),
  'daemon:status': own(Daemon.extend({ version: z.string(), startedAt: z.string(), ...Running.pick({ store: true, node: true, workers: true }).shape, service: z.object({ manager: z.enum(['systemd', 'launchd']), name: z.string(), isSystem: z.boolean() }).optional().describe('The service that the daemon is.') }).meta({ id: 'RunningDaemon' })),
  'daemon:stop':   own(z.object({ dataDir: z.string(), pid: z.number().optional(), stopped: z.boolean().describe('False when there was none.') }).meta({ id: 'StoppedDaemon' })),

  'dcql:from': own(z.object({ credentials: z.array(z.looseObject({ id: z.string(), format: z.string() })) }).meta({ id: 'PrintedDcqlQuery' }), 'A DCQL query.'),
  decode: own(DecodedText, 'Also when a check has failed, with exit code 8.'),

  'did:create':     own(
    operated.partial().extend({ did: z.string(), longFormDid: z.string() }).meta({ id: 'CreatedDid' }),
    'With --publish also the operation, with --wait also the DID as it is then.',
  ),
  'did:deactivate': own(operated, 'With --wait also the DID as it is then.'),
  'did:list':       answer('GET /did-registrar/dids'),
  'did:publish':    own(operated, 'With --wait also the DID as it is then.'),
  'did:resolve':    answer('GET /dids/{didRef}'),
  'did:restore':    answer('POST /did-registrar/restorations'),
  'did:show':       answer('GET /did-registrar/dids/{didRef}'),
  'did:update':     own(operated, 'With --wait also the DID as it is then.'),

  'didcomm:ping':   own((bodyOf('GET /didcomm/pings/{id}') as z.ZodObject).extend({ milliseconds: z.number() }).meta({ id: 'AnsweredPing' })),
  'didcomm:unpack': answer('POST /didcomm/unpack', 'What the message says is left out, unless --show is given.'),

  doctor: answer('GET /_system/doctor', 'Also when a check has failed, with the exit code that says so.'),

  login:     own(z.object({ profile: z.string(), issuer: z.string(), clientId: z.string(), expiresAt: z.string().optional() }).meta({ id: 'SignedIn' }), 'First an object with the address to open, and the code for --device.'),
  logout:     own(z.object({ profile: z.string(), issuer: z.string(), revoked: z.boolean() }).meta({ id: 'SignedOut' })),
  explain: own(z.object({ contents: z.array(Explanation) }).meta({ id: 'Explanations' })),

  'event:list':    answer('GET /events'),
  'event:listen':  lines(bodyOf('GET /events/{id}'), 'Each event as it comes.'),
  'event:replay':  Replayed,
  'event:show':    answer('GET /events/{id}'),
  'event:tail':    lines(bodyOf('GET /events/{id}'), 'Each event as it comes.'),
  'event:trigger': answer('POST /events/test'),

  'issuer:create': answer('POST /oid4vci/issuers'),
  'issuer:list':   answer('GET /oid4vci/issuers'),
  'issuer:remove': removed,
  'issuer:show':   own(
    (bodyOf('POST /oid4vci/issuers') as z.ZodObject)
      .extend({ metadata: bodyOf('GET /oid4vci/issuers/{issuerId}/.well-known/openid-credential-issuer') })
      .meta({ id: 'ShownIssuer' }),
    'The issuer, and the metadata that wallets read.',
  ),
  'issuer:update': answer('PATCH /oid4vci/issuers/{issuerId}'),
  'issuer:configuration:add':    answer('POST /oid4vci/issuers/{issuerId}/credential-configurations'),
  'issuer:configuration:list':   answer('GET /oid4vci/issuers/{issuerId}/credential-configurations'),
  'issuer:configuration:remove': removed,
  'issuer:configuration:show':   answer('GET /oid4vci/issuers/{issuerId}/credential-configurations/{credentialConfigId}'),

  'key:rotate': answer('POST /_system/master-key/rotation'),

  'node:drain': answer('PUT /_system/nodes/{name}/draining'),
  'node:list':  answer('GET /_system/nodes'),

  'issuer-cert:import':  answer('PUT /issuer-certificates/{id}/chain'),
  'issuer-cert:init':    answer('POST /issuer-certificates/development'),
  'issuer-cert:list':    answer('GET /issuer-certificates'),
  'issuer-cert:remove':  removed,
  'issuer-cert:request': answer('POST /issuer-certificates'),
  'issuer-cert:show':    answer('GET /issuer-certificates/{id}'),

  'message:list': answer('GET /messages'),
  'message:send': answer('POST /messages'),

  'oid4vc:present': proof,
  'oid4vc:receive': credential,

  'onboard:create': { ...didRequest, note: twice },
  'onboard:list':   answer('GET /onboard/did-requests'),
  'onboard:reject': answer('POST /onboard/answers'),
  'onboard:remove': answer('DELETE /onboard/did-requests/{didRequestId}'),
  'onboard:show':   didRequest,
  'onboard:submit': answer('POST /onboard/answers'),

  'policy:create': answer('POST /verification/policies'),
  'policy:list':   answer('GET /verification/policies'),
  'policy:remove': removed,
  'policy:show':   answer('GET /verification/policies/{id}'),
  'policy:update': answer('PUT /verification/policies/{id}'),

  'presentation-definition:create': answer('POST /presentation-exchange/presentation-definitions'),
  'presentation-definition:list':   answer('GET /presentation-exchange/presentation-definitions'),
  'presentation-definition:match':  answer('POST /presentation-exchange/presentation-definitions/{id}/evaluations'),
  'presentation-definition:show':   answer('GET /presentation-exchange/presentation-definitions/{id}'),

  'profile:add':    own(Profile),
  'profile:list':   own(z.object({ contents: z.array(Profile) }).meta({ id: 'Profiles' })),
  'profile:remove': own(z.object({ name: z.string(), removed: z.literal(true) }).meta({ id: 'RemovedProfile' })),
  'profile:show':   own(Profile),
  'profile:use':    own(z.object({ name: z.string(), inUse: z.boolean().describe('False when an environment variable goes over it.') }).meta({ id: 'UsedProfile' })),

  'proof:accept':            proof,
  'proof:accept-invitation': proof,
  'proof:list':              answer('GET /present-proof/presentations'),
  'proof:present':           proof,
  'proof:reject':            proof,
  'proof:remove':            removed,
  'proof:request':           { ...proof, note: 'With --invitation and --wait twice: as it was made, and as it has become.' },
  'proof:show':              proof,

  'creddef:create': answer('POST /credential-definition-registry/definitions'),
  'creddef:list':   answer('GET /credential-definition-registry/definitions', 'With --did-url its contents are each a PrismEnvelope.'),
  'creddef:show':   { ...definition, note: `${definition.note} With --raw the definition alone.` },
  run: own(z.object({ steps: z.array(z.object({ id: z.string().optional(), command: z.string(), exitCode: z.number(), ms: z.number(), result: z.unknown().optional() }).meta({ id: 'StepResult' })) }).meta({ id: 'ScenarioResult' }), 'Also when a step fails, with the steps so far.'),

  'schema:list':     answer('GET /schema-registry/schemas', 'With --did-url its contents are each a PrismEnvelope.'),
  'schema:publish':  schema,
  'schema:show':     { ...schema, note: `${schema.note} With --raw the JSON schema alone.` },
  'schema:validate': answer('POST /verification/schema', 'Also when something is wrong, with exit code 8.'),

  'tenant:create':     own(z.object({ id: z.string(), name: z.string(), walletId: z.string(), ...Key }).meta({ id: 'CreatedTenant' })),
  'tenant:delete':     own(z.object({ id: z.string(), walletId: z.string(), deleted: z.literal(true) }).meta({ id: 'DeletedTenant' })),
  'tenant:list':       answer('GET /iam/entities'),
  'tenant:move':       tenant,
  'tenant:remove':     removed,
  'tenant:rename':     tenant,
  'tenant:show':       tenant,
  'tenant:key:create': own((bodyOf('POST /iam/entities/{id}/api-keys') as z.ZodObject).extend(Key).meta({ id: 'CreatedKey' })),
  'tenant:key:list':   answer('GET /iam/entities/{id}/api-keys'),
  'tenant:key:revoke': answer('DELETE /iam/entities/{id}/api-keys/{keyId}'),

  trace: answer('GET /traces/{id}', 'With --follow its steps alone, one a line.'),

  'trust:add':    answer('POST /trust-anchors'),
  'trust:list':   answer('GET /trust-anchors'),
  'trust:remove': removed,
  'trust:show':   answer('GET /trust-anchors/{id}'),

  'vdr:create': answer('POST /vdr/entries'),
  'vdr:proof':  answer('GET /vdr/proofs'),
  'vdr:remove': own(z.object({ url: z.string(), removed: z.literal(true), operationId: z.string().optional() }).meta({ id: 'RemovedVdrEntry' })),
  'vdr:show':   own(z.object({ url: z.string(), content: z.string().describe('The content in base64.') }).meta({ id: 'VdrEntry' })),
  'vdr:update': answer('PUT /vdr/entries'),

  'wallet:create': answer('POST /wallets'),
  'wallet:export': own(z.object({ walletId: z.guid(), file: z.string(), bytes: z.number(), moved: z.boolean() }).meta({ id: 'WalletExport' })),
  'wallet:grant':  own(z.object({ walletId: z.guid(), subject: z.string(), granted: z.literal(true) }).meta({ id: 'GrantedPermission' })),
  'wallet:import': answer('POST /wallets/import'),
  'wallet:list':   answer('GET /wallets'),
  'wallet:move':   answer('POST /wallets/import'),
  'wallet:remove': removed,
  'wallet:resume': answer('POST /wallets/{walletId}/resumption'),
  'wallet:revoke': own(z.object({ walletId: z.guid(), subject: z.string(), revoked: z.literal(true) }).meta({ id: 'RevokedPermission' })),
  'wallet:show':   answer('GET /wallets/{walletId}'),
  'wallet:stats':  answer('GET /wallets/{walletId}/stats'),

  'webhook:add':        answer('POST /events/webhooks'),
  'webhook:deliveries': answer('GET /events/webhooks/{id}/deliveries'),
  'webhook:list':       answer('GET /events/webhooks'),
  'webhook:remove':     removed,
  'webhook:replay':     Replayed,
  'webhook:secret':     own(z.object({ id: z.string(), signed: z.literal(false).optional().describe('With --remove.'), secret: z.string().optional(), previousUntil: z.string().optional() }).meta({ id: 'RenewedSecret' })),
  'webhook:show': answer('GET /events/webhooks/{id}'),
  'webhook:test': answer('POST /events/webhooks/{id}/test'),
}
