/** `agent credential offer` */
import * as Flags from '@oclif/core/flags'
import { defineCommand } from '../../cli/define-command.ts'
import { UsageError } from '../../cli/errors/errors.ts'
import { repeatable } from '../../cli/input/arguments.ts'
import { claimFlags, readClaims } from '../../cli/input/claims.ts'
import { formatFlag, type formats, toFormat } from '../../cli/input/credential.ts'
import { schemaUrl } from '../../cli/input/registry.ts'
import { readSeconds } from '../../cli/input/time.ts'
import { invitationFlags } from '../../cli/invitation.ts'
import { toWhom, whichClaims, whichDid } from '../../cli/prompts/questions.ts'
import { createRecord, waitFlags } from '../../cli/wait.ts'

export default defineCommand({
  summary: 'Offer a credential, over a connection or by an invitation (issuer)',
  description:
    'With --invitation, prints the URL of an invitation that can be answered once, without a connection.',
  examples: [
    'agent credential offer --connection <id> --issuing-did <did> --claim name=Alice --claim age:=42',
    'agent credential offer --connection <id> --issuing-did <did> --claims @claims.json --schema <guid> --validity 365d',
    'agent credential offer --connection <id> --issuing-did <did> --claims @claims.json --format sdjwt',
    'agent credential offer --connection <id> --definition <guid> --claim name=Alice --claim age=30',
    'agent credential offer --invitation --goal "Your diploma" --issuing-did <did> --claim name=Alice --auto',
  ],
  flags: {
    connection: Flags.string({
      exactlyOne: ['connection', 'invitation'],
      description: 'connection to the holder: its id, the end of the id, or its label',
    }),
    invitation: Flags.boolean({ description: 'create an invitation instead; it can be answered once' }),
    'issuing-did': Flags.string({
      exactlyOne: ['issuing-did', 'definition'],
      description: 'the issuer’s DID, with an assertionMethod key',
    }),
    definition: Flags.string({
      description: 'guid of a credential definition of the wallet: issue an AnonCreds credential',
    }),
    ...claimFlags,
    schema: Flags.string({
      ...repeatable,
      description: 'schema of the claims: its guid on this agent, or a URL',
    }),
    validity: Flags.string({ description: 'validity period: 3600, 90m, 12h, 365d' }),
    format: formatFlag('sdjwt lets the holder choose claims to disclose, anoncreds needs --definition'),
    auto: Flags.boolean({ description: 'issue as soon as the holder accepts' }),
    ...invitationFlags(['invitation']),
    ...waitFlags('the holder has accepted, or, with --auto, the credential is issued'),
  },
  questions: {
    connection: toWhom,
    'issuing-did': { ...whichDid('Which DID issues it?', 'issuing-did'), unless: ['definition'] },
    claim: whichClaims,
  },
  async run(context) {
    const { flags, call, getAccess } = context
    const { connection: connectionId, schema, validity, auto, goal } = flags
    const format = readFormat(flags)
    const offered = {
      issuingDID: flags['issuing-did'],
      credentialDefinitionId: flags.definition,
      claims: readClaims(flags),
      automaticIssuance: auto,
      ...toFormat(format),
      ...(schema && { schemaId: schema.map((each) => schemaUrl(each, getAccess().url)) }),
      ...(validity !== undefined && { validityPeriod: readSeconds('validity', validity) }),
    }
    return createRecord(context, 'credential', auto ? 'CredentialSent' : 'RequestReceived', () =>
      connectionId === undefined
        ? call('POST /issue-credentials/credential-offers/invitation', {
            body: { ...offered, goal, goalCode: flags['goal-code'] },
          })
        : call('POST /issue-credentials/credential-offers', { body: { ...offered, connectionId } }),
    )
  },
})

/** @throws {UsageError} when --format and --definition contradict each other. */
function readFormat({
  format,
  definition,
}: {
  format?: keyof typeof formats | undefined
  definition?: string | undefined
}) {
  if (format === 'anoncreds' && definition === undefined)
    throw new UsageError(
      '--format anoncreds needs --definition: the guid of a credential definition of this wallet.',
      'agent creddef list',
    )
  if (definition !== undefined && format !== undefined && format !== 'anoncreds')
    throw new UsageError(`--definition issues AnonCreds, not ${format}. Omit --format.`)
  return definition === undefined ? format : 'anoncreds'
}
