/** `agent didcomm unpack` */
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from '../../cli/base-command.ts'
import { safeJson } from '../../cli/format/safe.ts'
import { readText } from '../../cli/input/files.ts'

export default class DidcommUnpack extends AgentCommand {
  static override summary = 'Explain a DIDComm envelope that is for this wallet'
  static override description =
    'Prints how it was protected, by whom and for whom, and the message with its contents left out unless --show is given. Nothing is taken in: what the message asks for does not happen.'
  static override examples = [
    '<%= config.bin %> didcomm unpack envelope.json',
    'pbpaste | <%= config.bin %> didcomm unpack - --show',
  ]
  static override args = {
    envelope: Args.string({
      required: true,
      ignoreStdin: true,
      description: 'a file, or - for standard input',
    }),
  }
  static override flags = { show: Flags.boolean({ description: 'print what the message says, too' }) }

  async run() {
    const { args, flags } = await this.parse(DidcommUnpack)
    const explained = await this.call('POST /didcomm/unpack', {
      body: { envelope: readText('envelope', `@${args.envelope}`) },
    })
    const { message, layers, authenticated, recipientKid, senderKid, signerKid } = explained
    const shown = flags.show
      ? message
      : {
          ...message,
          body: redact(message.body),
          ...(message.attachments && { attachments: redact(message.attachments) }),
        }
    this.print(message.id, [
      ['layers', layers.map(({ type, alg, enc }) => [type, alg, enc].filter(Boolean).join(' ')).join(' of ')],
      ['from', authenticated ? `${message.from} (proved)` : `${message.from ?? 'nobody'} (not proved)`],
      ['sender key', senderKid],
      ['signer key', signerKid],
      ['our key', recipientKid],
      ['type', message.type],
      ['thread', message.thid ?? message.id],
    ])
    if (!this.isQuiet) this.log(safeJson(shown))
    return { ...explained, message: shown }
  }
}

/** The shape of a value, without what it says. */
function redact(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(redact)
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, redact(member)]))
  return '…'
}
