import * as Flags from '@oclif/core/flags'
import { findSubjects, needsSubject, noSubject } from '../../cli/client/subjects.ts'
import { type Context, defineCommand } from '../../cli/define-command.ts'
import { UsageError } from '../../cli/errors/errors.ts'
import { idOf } from '../../cli/input/arguments.ts'
import { whichRecord, whichSubject } from '../../cli/prompts/questions.ts'
import { changeRecord, waitFlags } from '../../cli/wait.ts'

export default defineCommand({
  summary: 'Accept an offer (holder)',
  examples: [
    'agent credential accept <id> --subject did:prism:…',
    'agent credential accept <id> --subject did:prism:… --key-id auth-1',
    'agent credential accept <id>',
  ],
  args: idOf('credential record'),
  flags: {
    subject: Flags.string({
      description:
        'subject of the credential: a DID of this wallet with an authentication key, not for AnonCreds; default: the only such DID',
    }),
    'key-id': Flags.string({
      description:
        'authentication key, such as auth-1, that signs and that an SD-JWT is bound to; default: the first key signs, without binding',
    }),
    'tx-code': Flags.string({
      exclusive: ['subject', 'key-id'],
      description: 'transaction code of an offer of OpenID4VCI, which the issuer gave on another channel',
    }),
    ...waitFlags('the credential was received'),
  },
  questions: {
    id: whichRecord('credential', 'credential accept'),
    subject: whichSubject,
  },
  async run(context) {
    const { args, flags, call } = context
    const subjectId = flags.subject ?? (await onlySubject(context, args.id))
    return changeRecord(context, 'credential', {
      until: 'CredentialReceived',
      change: () =>
        call('POST /issue-credentials/records/{recordId}/accept-offer', {
          path: { recordId: args.id },
          body: { subjectId, keyId: flags['key-id'], txCode: flags['tx-code'] },
        }),
      next: ({ recordId }) => `agent credential show ${recordId}`,
    })
  },
})

/**
 * The only DID that can be the subject; undefined for AnonCreds and OpenID4VCI.
 *
 * @throws {UsageError} when there are several DIDs or none.
 */
async function onlySubject({ call }: Context, recordId: string): Promise<string | undefined> {
  const record = await call('GET /issue-credentials/records/{recordId}', { path: { recordId } })
  if (!needsSubject(record)) return undefined
  const [only, ...more] = await findSubjects(call)
  if (!only) throw noSubject()
  if (more.length > 0)
    throw new UsageError(`The wallet has ${more.length + 1} DIDs: name one with --subject.`, 'agent did list')
  return only.did
}
