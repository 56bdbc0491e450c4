import { writeFileSync } from 'node:fs'
import * as Flags from '@oclif/core/flags'
import { type Context, defineCommand } from '../../cli/define-command.ts'
import { CommandError, UsageError } from '../../cli/errors/errors.ts'
import { safeJson } from '../../cli/format/text.ts'
import { idOf } from '../../cli/input/arguments.ts'
import { whichRecord } from '../../cli/prompts/questions.ts'
import { systemReason } from '../../src/foundation/system-reason.ts'

export default defineCommand({
  summary: 'Export a credential as a token, or decoded',
  description:
    'An SD-JWT includes all its disclosures; without key binding, any holder of the file can present it. An AnonCreds credential is JSON, and only the wallet of its holder can use it. The file must not exist; only you can read it (0600).',
  examples: [
    'agent credential export <id>',
    'agent credential export <id> --output credential.jwt',
    'agent credential export <id> --as json',
  ],
  args: idOf('credential record'),
  flags: {
    as: Flags.option({ options: ['token', 'json'] as const })({
      default: 'token' as const,
      description:
        'token: the compact JWT or SD-JWT, or the JSON of an AnonCreds credential; json: what it says, decoded, and whether it is revoked',
    }),
    output: Flags.string({
      char: 'o',
      description: 'the new file; default: standard output',
    }),
  },
  questions: {
    id: whichRecord('credential', 'credential export'),
  },
  async run(context) {
    const { args, flags, call } = context

    const path = { recordId: args.id }
    if (flags.as === 'json') {
      const content = await call('GET /issue-credentials/records/{recordId}/credential', { path })
      return write(context, args.id, flags.output, safeJson(content), content)
    }
    const { credential, protocolState } = await call('GET /issue-credentials/records/{recordId}', {
      path,
    })
    if (credential === undefined) {
      const hint = `agent credential show ${args.id}`
      throw new CommandError(`There is no credential yet; the record is in ${protocolState}.`, 5, hint)
    }
    const token = Buffer.from(credential, 'base64url').toString()
    return write(context, args.id, flags.output, token, { recordId: args.id, credential: token })
  },
})

/** Prints `text` or writes it to a file. Returns the value that `--json` prints. */
function write(
  { log, print }: Context,
  recordId: string,
  file: string | undefined,
  text: string,
  result: object,
): object {
  if (file === undefined) {
    log(text)
    return result
  }
  try {
    writeFileSync(file, `${text}\n`, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    throw new UsageError(
      `--output: ${file} cannot be written: ${systemReason(error)}. It must be a new file.`,
    )
  }
  print(recordId, [
    ['credential', recordId],
    ['file', file],
  ])
  return { recordId, file }
}
