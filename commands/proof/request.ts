import { randomUUID } from 'node:crypto'
import * as Flags from '@oclif/core/flags'
import { defineCommand } from '../../cli/define-command.ts'
import { UsageError } from '../../cli/errors/errors.ts'
import { repeatable } from '../../cli/input/arguments.ts'
import { readClaimNames } from '../../cli/input/claims.ts'
import { formatFlag, toFormat } from '../../cli/input/credential.ts'
import { readAsked } from '../../cli/input/proof-request.ts'
import { schemaUrl } from '../../cli/input/registry.ts'
import { expiresInFlag, noteUnits, readExpiresIn } from '../../cli/input/time.ts'
import { openId4VpFlags, readQuery, requestFromWallet } from '../../cli/oid4vp-request.ts'
import { whichTrusted, whichType } from '../../cli/oid4vp-type.ts'
import { issuerFlags, readIssuers } from '../../cli/input/issuers.ts'
import { toWhomOrWallet } from '../../cli/prompts/questions.ts'
import { qrFlags } from '../../cli/qr/flags.ts'
import { createRecord, waitFlags } from '../../cli/wait.ts'

/** Options of flags for AnonCreds. */
const ofAnonCreds = { ...repeatable, dependsOn: ['format'] }

export default defineCommand({
  summary: 'Request a proof, over a connection, by an invitation or from a wallet of OpenID4VP (verifier)',
  description:
    'With --invitation, prints the URL of an invitation that can be answered once, without a connection. With --oid4vp, prints the URL of a request for wallets of OpenID4VP. A request says whose credentials it accepts: --trust-issuer, --trusted, a --policy with trusted issuers, a --definition, a query with trusted_authorities, or --any-issuer. With --oid4vp, a credential that a DID of this wallet issues is accepted from itself; for one that a certificate signs, the authority of the certificate must be a trust anchor (agent trust).',
  examples: [
    'agent proof request --oid4vp --type Person --claim name',
    'agent proof request --connection <id> --trust-issuer did:prism:…',
    'agent proof request --connection <id> --schema <guid> --trust-issuer did:prism:… --domain shop.example',
    'agent proof request --connection <id> --trust-issuer did:prism:… --format sdjwt --claim name --claim address.city',
    `agent proof request --connection <id> --format anoncreds --reveal name --predicate 'age>=18' --definition <guid>`,
    'agent proof request --connection <id> --any-issuer --wait --timeout 2m',
    'agent proof request --invitation --trust-issuer did:prism:… --goal "Are you over 18?"',
    'agent proof request --connection <id> --policy <id> --dcql query.json',
    'agent proof request --oid4vp --dcql query.json --trust-issuer did:web:… --signing-did did:web:… --wait',
  ],
  flags: {
    connection: Flags.string({
      exactlyOne: ['connection', 'invitation', 'oid4vp'],
      description: 'connection to the prover: its id, the end of the id, or its label',
    }),
    invitation: Flags.boolean({ description: 'create an invitation instead; it can be answered once' }),
    schema: Flags.string({
      description: 'schema of the requested credential: its guid on this agent, or a URL; default: any',
    }),
    ...issuerFlags,
    format: formatFlag('sdjwt discloses the claims of --claim, anoncreds proves --reveal and --predicate'),
    claim: Flags.string({
      ...repeatable,
      relationships: [{ type: 'some', flags: ['format', 'oid4vp'] }],
      exclusive: ['dcql'],
      description:
        'claim that must be disclosed, by its path: name, address.city; sdjwt and --oid4vp only, where the default is the mandatory claims of the type, or all of them',
    }),
    reveal: Flags.string({
      ...ofAnonCreds,
      description: 'attribute that must be revealed, by its name; anoncreds only',
    }),
    predicate: Flags.string({
      ...ofAnonCreds,
      description: `predicate to prove without revealing the attribute, such as 'age>=18'; anoncreds only`,
    }),
    definition: Flags.string({
      ...ofAnonCreds,
      description:
        'requested credential definition: its guid on this agent, or a URL; anoncreds only; default: any',
    }),
    challenge: Flags.string({
      dependsOn: ['domain'],
      description: 'value that the prover signs, against replay; default: random',
    }),
    domain: Flags.string({ description: 'domain of the verifier' }),
    policy: Flags.string({ description: 'id of a verification policy that the proof must satisfy too' }),
    'status-check': Flags.option({ options: ['required', 'if-available', 'off'] as const })({
      description:
        'revocation check: if-available accepts credentials whose status list is unreachable; default: required',
    }),
    ...openId4VpFlags,
    goal: Flags.string({
      dependsOn: ['invitation'],
      description: 'purpose, in words that the other side sees',
    }),
    'goal-code': Flags.string({
      dependsOn: ['invitation'],
      description: 'purpose, as a code such as issue-vc',
    }),
    ...qrFlags(['invitation', 'oid4vp']),
    'expires-in': expiresInFlag({
      relationships: [{ type: 'some', flags: ['invitation', 'oid4vp'] }],
    }),
    ...waitFlags('the presentation was verified'),
  },
  questions: {
    connection: toWhomOrWallet('--oid4vp'),
    type: whichType,
    'trust-issuer': whichTrusted,
  },
  async run(context) {
    const { flags, call, getAccess } = context
    noteUnits(context, { 'expires-in': flags['expires-in'] })
    if (flags.oid4vp)
      return requestFromWallet(context, { policyId: flags.policy, statusCheck: flags['status-check'] })
    const { connection: connectionId, schema, domain, challenge = randomUUID(), goal } = flags
    const { reveal, predicate, definition, format } = flags
    const isAnonCreds = format === 'anoncreds'
    for (const [name, value] of Object.entries({ reveal, predicate, definition }))
      if (value && !isAnonCreds) throw new UsageError(`--${name} is for --format anoncreds.`)
    const dcqlQuery = flags.dcql === undefined ? undefined : readQuery(flags.dcql)
    const issuers = await readIssuers(context, dcqlQuery)
    const trustIssuers = Array.isArray(issuers) ? issuers : undefined
    // Lines of schemas and restrictions are also in the requests of the Cloud Agent, so every wallet reads
    // them.
    const isInLines = trustIssuers && (schema !== undefined || isAnonCreds)
    const asked = {
      name: goal ?? 'Proof request',
      reveal,
      predicate,
      definition,
      schema,
      issuers: trustIssuers,
    }
    const request = {
      proofs:
        schema === undefined || isAnonCreds
          ? []
          : [{ schemaId: schemaUrl(schema, getAccess().url), trustIssuers }],
      ...(isAnonCreds && { anoncredPresentationRequest: readAsked(asked, getAccess().url) }),
      ...(domain !== undefined && { options: { challenge, domain } }),
      ...toFormat(flags.format),
      dcqlQuery,
      ...(!isInLines && { issuers }),
      ...(flags.claim && { claims: readClaimNames(flags.claim) }),
      policyId: flags.policy,
      statusCheck: flags['status-check'],
    }
    return createRecord(context, 'proof', 'PresentationVerified', () =>
      connectionId === undefined
        ? call('POST /present-proof/presentations/invitation', {
            body: {
              ...request,
              goal,
              goalCode: flags['goal-code'],
              expiresIn: readExpiresIn(flags['expires-in']),
            },
          })
        : call('POST /present-proof/presentations', { body: { ...request, connectionId } }),
    )
  },
})
