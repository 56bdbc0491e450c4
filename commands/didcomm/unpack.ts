import * as Flags from '@oclif/core/flags'
import { defineCommand } from '../../cli/define-command.ts'
import { safeJson } from '../../cli/format/text.ts'
import { argument } from '../../cli/input/arguments.ts'
import { readText } from '../../cli/input/files.ts'

export default defineCommand({
  summary: 'Decrypt and describe a DIDComm envelope for this wallet',
  description:
    'Prints the encryption, the signature, the sender, the recipient, and the message without its contents; --show prints the contents. The message is not processed.',
  examples: ['agent didcomm unpack envelope.json', 'pbpaste | agent didcomm unpack - --show'],
  args: {
    envelope: argument('a file, or - for standard input'),
  },
  flags: { show: Flags.boolean({ description: 'print the contents of the message too' }) },
  async run({ args, flags, call, print, isQuiet, log }) {
    const explained = await call('POST /didcomm/unpack', {
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
    print(message.id, [
      ['layers', layers.map(({ type, alg, enc }) => [type, alg, enc].filter(Boolean).join(' ')).join(' of ')],
      [
        'from',
        authenticated
          ? `${message.from} (proved)`
          : message.from === undefined
            ? 'no sender'
            : `${message.from} (not proved)`,
      ],
      ['sender key', senderKid],
      ['signer key', signerKid],
      ['our key', recipientKid],
      ['type', message.type],
      ['thread', message.thid ?? message.id],
    ])
    if (!isQuiet) log(safeJson(shown))
    return { ...explained, message: shown }
  },
})

/** Replaces all values by `…` and keeps the structure. */
function redact(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(redact)
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, redact(member)]))
  return '…'
}
