/** `agent credential accept` */
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from '../../cli/base-command.ts'
import { UsageError } from '../../cli/errors/errors.ts'
import { credentialFields } from '../../cli/format/records.ts'
import { findSubjects, noSubject } from '../../cli/client/subjects.ts'
import { whichRecord, whichSubject } from '../../cli/prompts/questions.ts'
import { waitFlags } from '../../cli/wait.ts'

export default class CredentialAccept extends AgentCommand {
  static override summary = 'Accept an offer (holder)'
  static override examples = [
    '<%= config.bin %> credential accept <id> --subject did:prism:…',
    '<%= config.bin %> credential accept <id> --subject did:prism:… --key-id auth-1',
    '<%= config.bin %> credential accept <id>',
  ]
  static override args = {
    id: Args.string({ required: true, ignoreStdin: true, description: 'id of the credential record' }),
  }
  static override flags = {
    subject: Flags.string({
      description:
        'whom the credential is about: a DID of this wallet with an authentication key; an AnonCreds credential is about none; the only one of the wallet when left out',
    }),
    'key-id': Flags.string({
      description:
        'authentication key, such as auth-1, that signs, and that an SD-JWT is bound to; when left out the first one signs, and nothing is bound',
    }),
    ...waitFlags('the credential is here'),
  }

  protected override readonly questions = {
    id: whichRecord('credential', ['OfferReceived']),
    subject: whichSubject,
  }

  async run() {
    const { args, flags } = await this.parse(CredentialAccept)
    const subjectId = flags.subject ?? (await this.#onlySubject(args.id))
    const settled = await this.waiting('credential', flags, 'CredentialReceived')
    const made = await this.call('POST /issue-credentials/records/{recordId}/accept-offer', {
      path: { recordId: args.id },
      body: { subjectId, keyId: flags['key-id'] },
    })
    return settled(made, (record) => {
      this.print(record.recordId, credentialFields(record))
      this.suggest(`agent credential show ${record.recordId}`)
    })
  }

  /** The only DID that the credential can be about; none for AnonCreds. @throws {UsageError} when there are several. @throws {CommandError} when there is none. */
  async #onlySubject(recordId: string): Promise<string | undefined> {
    const { credentialFormat } = await this.call('GET /issue-credentials/records/{recordId}', {
      path: { recordId },
    })
    if (credentialFormat === 'AnonCreds') return undefined
    const [only, ...more] = await findSubjects(this.call)
    if (!only) throw noSubject()
    if (more.length > 0)
      throw new UsageError(
        `The wallet has ${more.length + 1} DIDs: name one with --subject.`,
        'agent did list',
      )
    return only.did
  }
}
