/** `agent credential export` */
import { writeFileSync } from 'node:fs'
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from '../../cli/base-command.ts'
import { CommandError, UsageError } from '../../cli/errors/errors.ts'
import { safeJson } from '../../cli/format/safe.ts'
import { whichRecord } from '../../cli/prompts/questions.ts'
import { systemReason } from '../../src/base/system-reason.ts'

export default class CredentialExport extends AgentCommand {
  static override summary = 'Write out a credential: as it is, or decoded'
  static override description =
    'An SD-JWT comes with all its disclosures; one that is bound to no key can be shown by whoever has it. An AnonCreds credential is JSON, with which nobody but its holder’s wallet can prove anything. The file must be a new one, and is for you alone (0600).'
  static override examples = [
    '<%= config.bin %> credential export <id>',
    '<%= config.bin %> credential export <id> --output credential.jwt',
    '<%= config.bin %> credential export <id> --as json',
  ]
  static override args = {
    id: Args.string({ required: true, ignoreStdin: true, description: 'id of the credential record' }),
  }
  static override flags = {
    as: Flags.option({ options: ['token', 'json'] as const })({
      default: 'token' as const,
      description:
        'token: the compact JWT or SD-JWT, or the JSON of an AnonCreds credential; json: what it says, decoded, and whether it is revoked',
    }),
    output: Flags.string({
      char: 'o',
      description: 'write it to this new file; to standard output when left out',
    }),
  }

  protected override readonly questions = {
    id: whichRecord('credential', ['CredentialReceived', 'CredentialSent']),
  }

  async run() {
    const { args, flags } = await this.parse(CredentialExport)
    const path = { recordId: args.id }
    if (flags.as === 'json') {
      const content = await this.call('GET /issue-credentials/records/{recordId}/credential', { path })
      return this.#write(args.id, flags.output, safeJson(content), content)
    }
    const { credential, protocolState } = await this.call('GET /issue-credentials/records/{recordId}', {
      path,
    })
    if (credential === undefined) {
      const hint = `agent credential show ${args.id}`
      throw new CommandError(`There is no credential yet; the record is in ${protocolState}.`, 5, hint)
    }
    const token = Buffer.from(credential, 'base64url').toString()
    return this.#write(args.id, flags.output, token, { recordId: args.id, credential: token })
  }

  /** Prints `text`, or writes it to a file and says so. Returns what `--json` prints. */
  #write(recordId: string, file: string | undefined, text: string, result: object): object {
    if (file === undefined) {
      this.log(text)
      return result
    }
    try {
      writeFileSync(file, `${text}\n`, { mode: 0o600, flag: 'wx' })
    } catch (error) {
      throw new UsageError(
        `--output: ${file} cannot be written: ${systemReason(error)}. It must be a new file.`,
      )
    }
    this.print(recordId, [
      ['credential', recordId],
      ['file', file],
    ])
    return { recordId, file }
  }
}
