import * as Flags from '@oclif/core/flags'
import { describeCandidates } from '../../cli/client/candidates.ts'
import { type Context, defineCommand } from '../../cli/define-command.ts'
import { CommandError, UsageError } from '../../cli/errors/errors.ts'
import {
  candidatesTable,
  findMisfit,
  presentCommands,
  unanswered,
  type Candidates,
} from '../../cli/format/proof-request.ts'
import { idOf, repeatable } from '../../cli/input/arguments.ts'
import { readClaimNames } from '../../cli/input/claims.ts'
import { whichCredential, whichRecord } from '../../cli/prompts/questions.ts'
import { changeRecord, waitFlags } from '../../cli/wait.ts'

export default defineCommand({
  summary: 'Answer a proof request with credentials (prover)',
  description:
    'Without --credential, presents the credentials of the wallet that satisfy the request, one per requested schema. If there are several choices, lists them and exits with 2; if there is none, exits with 3. Revoked, suspended and expired credentials are left out. Credentials named by --credential are sent even if they do not satisfy the request; the command prints a warning, and the verifier decides.',
  examples: [
    'agent proof present <id>',
    'agent proof present <id> --credential <id>',
    'agent proof present <id> --credential <id> --credential <id>',
    'agent proof present <id> --credential <id> --claim name --claim address.city',
    'agent proof present <id> --credential <id> --hide name',
  ],
  args: idOf('presentation record'),
  flags: {
    credential: Flags.string({
      ...repeatable,
      description: 'record id of a held credential; repeat it if the request asks for several',
    }),
    claim: Flags.string({
      ...repeatable,
      description:
        'claim of an SD-JWT to disclose, by its path: name, address.city; default: the requested ones',
    }),
    hide: Flags.string({
      ...repeatable,
      exclusive: ['claim'],
      description:
        'requested AnonCreds attribute to hide, by its reference in the request; the verifier sees that it is hidden',
    }),
    ...waitFlags('the presentation was sent'),
  },
  questions: {
    id: whichRecord('proof', 'proof present'),
    credential: whichCredential,
  },
  async run(context) {
    const { args, flags, call, say } = context
    const misfit = flags.credential && findMisfit(await readCandidates(context, args.id), flags.credential)
    const proofId = flags.credential ?? (await chooseCredentials(context, args.id))
    const chosen = flags.hide ? await hideAttributes(context, args.id, proofId, flags.hide) : { proofId }
    return changeRecord(context, 'proof', {
      until: 'PresentationSent',
      change: async () => {
        const record = await call('PATCH /present-proof/presentations/{presentationId}', {
          path: { presentationId: args.id },
          body: {
            action: 'request-accept',
            ...chosen,
            ...(flags.claim && { claims: readClaimNames(flags.claim) }),
          },
        })
        if (misfit !== undefined) say(`Warning: ${misfit}.`)
        return record
      },
      next: ({ presentationId }) => `agent proof show ${presentationId}`,
    })
  },
})

function readCandidates({ call }: Context, presentationId: string): Promise<Candidates> {
  return call('GET /present-proof/presentations/{presentationId}/candidates', {
    path: { presentationId },
  })
}

/** Presents one credential and reveals all requested attributes except `hidden`. @throws {UsageError} */
async function hideAttributes(
  { call }: Context,
  presentationId: string,
  [credential, ...more]: string[],
  hidden: string[],
) {
  const { requestData } = await call('GET /present-proof/presentations/{presentationId}', {
    path: { presentationId },
  })
  const asked = JSON.parse(requestData[0] ?? '{}') as {
    requested_attributes?: object
    requested_predicates?: object
  }
  if (!asked.requested_attributes)
    throw new UsageError(
      '--hide is for AnonCreds requests. For an SD-JWT, --claim names the claims to disclose.',
    )
  if (credential === undefined || more.length > 0)
    throw new UsageError('--hide needs exactly one --credential.')
  const attributes = Object.keys(asked.requested_attributes)
  const unknown = hidden.find((reference) => !attributes.includes(reference))
  if (unknown !== undefined)
    throw new UsageError(`--hide ${unknown}: the request asks for ${attributes.join(', ')}.`)
  const requestedAttribute = attributes.filter((reference) => !hidden.includes(reference))
  const requestedPredicate = Object.keys(asked.requested_predicates ?? {})
  const proof = { credential, requestedAttribute, requestedPredicate, unrevealedAttribute: hidden }
  return { anoncredPresentationRequest: { credentialProofs: [proof] } }
}

/**
 * Chooses the credentials if there is only one choice.
 *
 * @throws {UsageError} when there are several.
 * @throws {CommandError} when there is none.
 */
async function chooseCredentials(context: Context, presentationId: string): Promise<string[]> {
  const found = await readCandidates(context, presentationId)
  const { candidates, others, lines, choice } = found
  if (choice) return choice
  const [command] = presentCommands(presentationId, found)
  const missing = unanswered(lines)
  if (candidates.length === 0 || missing) {
    const asked = missing ? `satisfies ${missing}` : 'answers the request'
    const why =
      others.length === 0
        ? missing
          ? ''
          : ': it holds none'
        : `:\n\n${candidatesTable(await describeCandidates(context.call, others), context.width)}`
    throw new CommandError(`No credential of this wallet ${asked}${why}`, 3, command)
  }
  const what = lines.length > 1 ? 'name one for each schema with --credential' : 'name one with --credential'
  throw new UsageError(
    `${candidates.length} credentials satisfy the request; ${what}:\n\n${candidatesTable(await describeCandidates(context.call, candidates), context.width)}`,
    command,
  )
}
