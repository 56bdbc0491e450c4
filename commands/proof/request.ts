/** `agent proof request` */
import { randomUUID } from 'node:crypto'
import * as Flags from '@oclif/core/flags'
import { UsageError } from '../../cli/errors/errors.ts'
import { presentationFields } from '../../cli/format/records.ts'
import { nextCommand } from '../../cli/format/states.ts'
import { readAsked } from '../../cli/input/proof-request.ts'
import { readClaimNames } from '../../cli/input/claims.ts'
import { formatFlag, toFormat } from '../../cli/input/credential.ts'
import { schemaUrl } from '../../cli/input/registry.ts'
import { invitationFlags, InvitingCommand } from '../../cli/inviting.ts'
import { toWhom } from '../../cli/prompts/questions.ts'
import { waitFlags } from '../../cli/wait.ts'

/** What goes with `--format anoncreds` alone. */
const ofAnonCreds = { multiple: true as const, multipleNonGreedy: true, dependsOn: ['format'] }

export default class ProofRequest extends InvitingCommand {
  static override summary = 'Ask for a proof, over a connection or by an invitation (verifier)'
  static override description =
    'With --invitation, prints the invitation’s URL: whoever answers first proves, and no connection is made.'
  static override examples = [
    '<%= config.bin %> proof request --connection <id>',
    '<%= config.bin %> proof request --connection <id> --schema <guid> --trust-issuer did:prism:… --domain shop.example',
    '<%= config.bin %> proof request --connection <id> --format sdjwt --claim name --claim address.city',
    `<%= config.bin %> proof request --connection <id> --format anoncreds --reveal name --predicate 'age>=18' --definition <guid>`,
    '<%= config.bin %> proof request --connection <id> --wait --timeout 2m',
    '<%= config.bin %> proof request --invitation --goal "Are you over 18?"',
  ]
  static override flags = {
    connection: Flags.string({
      exactlyOne: ['connection', 'invitation'],
      description: 'connection to the prover: its id, the end of the id, or its label',
    }),
    invitation: Flags.boolean({ description: 'make an invitation instead; it can be answered once' }),
    schema: Flags.string({
      description: 'schema of the credential that is asked for: its guid here, or a URL; any when left out',
    }),
    'trust-issuer': Flags.string({
      multiple: true,
      multipleNonGreedy: true,
      description: 'issuer whose credentials are accepted, of --schema; any when left out',
    }),
    format: formatFlag(
      'of an sdjwt, the claims that --claim names are shown and no others need be; of anoncreds, what --reveal and --predicate ask for',
    ),
    claim: Flags.string({
      multiple: true,
      multipleNonGreedy: true,
      dependsOn: ['format'],
      description: 'claim that must be shown, by its path: name, address.city; of an sdjwt only',
    }),
    reveal: Flags.string({
      ...ofAnonCreds,
      description: 'attribute that must be shown, by its name; of anoncreds only',
    }),
    predicate: Flags.string({
      ...ofAnonCreds,
      description: `what must be proved without the attribute being shown, such as 'age>=18'; of anoncreds only`,
    }),
    definition: Flags.string({
      ...ofAnonCreds,
      description:
        'credential definition of what is asked for: its guid here, or a URL; of anoncreds only, any when left out',
    }),
    challenge: Flags.string({
      dependsOn: ['domain'],
      description: 'what the prover signs against replay; random when left out',
    }),
    domain: Flags.string({ description: 'whom the presentation is for' }),
    policy: Flags.string({ description: 'id of a verification policy that the proof must satisfy as well' }),
    'status-check': Flags.option({ options: ['required', 'if-available', 'off'] as const })({
      description:
        'whether credentials may be revoked: if-available takes those whose status list cannot be had; required when left out',
    }),
    ...invitationFlags(['invitation']),
    ...waitFlags('the presentation has come and holds'),
  }

  protected override readonly questions = { connection: toWhom }

  async run() {
    const { flags } = await this.parse(ProofRequest)
    const { connection: connectionId, schema, domain, challenge = randomUUID(), goal } = flags
    const trustIssuers = flags['trust-issuer']
    const { reveal, predicate, definition, format } = flags
    const isAnonCreds = format === 'anoncreds'
    for (const [name, value] of Object.entries({ reveal, predicate, definition }))
      if (value && !isAnonCreds) throw new UsageError(`--${name} is for --format anoncreds.`)
    if (trustIssuers && schema === undefined && !isAnonCreds)
      throw new UsageError('--trust-issuer needs --schema.')
    const asked = {
      name: goal ?? 'Proof request',
      reveal,
      predicate,
      definition,
      schema,
      issuers: trustIssuers,
    }
    const wanted = {
      proofs:
        schema === undefined || isAnonCreds
          ? []
          : [{ schemaId: schemaUrl(schema, this.access.url), trustIssuers }],
      ...(isAnonCreds && { anoncredPresentationRequest: readAsked(asked, this.access.url) }),
      ...(domain !== undefined && { options: { challenge, domain } }),
      ...toFormat(flags.format),
      ...(flags.claim && { claims: readClaimNames(flags.claim) }),
      policyId: flags.policy,
      statusCheck: flags['status-check'],
    }
    const show = this.inviting(flags)
    const settled = await this.waiting('proof', flags, 'PresentationVerified')
    const made =
      connectionId === undefined
        ? await this.call('POST /present-proof/presentations/invitation', {
            body: { ...wanted, goal, goalCode: flags['goal-code'] },
          })
        : await this.call('POST /present-proof/presentations', { body: { ...wanted, connectionId } })
    await show(made.presentationId, made)
    return settled(made, (record) => {
      const { presentationId: id, status } = record
      if (!made.invitation || (flags.wait !== undefined && !this.isQuiet))
        this.print(id, presentationFields(record))
      this.suggest(nextCommand('proof', status, id) ?? `agent proof show ${id}`)
    })
  }
}
