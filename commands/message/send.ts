import * as Flags from '@oclif/core/flags'
import { defineCommand } from '../../cli/define-command.ts'
import { argument } from '../../cli/input/arguments.ts'
import { readText } from '../../cli/input/files.ts'
import { whichConnection } from '../../cli/prompts/questions.ts'

export default defineCommand({
  summary: 'Send a basic message over a connection',
  examples: [
    'agent message send "See you at ten" --connection <id>',
    'agent message send @notes.txt --connection <id>',
  ],
  args: {
    content: argument('the message: text, @file, or @- for standard input'),
  },
  flags: {
    connection: Flags.string({
      required: true,
      description: 'the connection: its id, the end of the id, or its label',
    }),
  },
  questions: { connection: whichConnection },
  async run({ args, flags, call, print, suggest }) {
    const content = readText('content', args.content)
    const sent = await call('POST /messages', { body: { connectionId: flags.connection, content } })
    print(sent.messageId, [
      ['message', sent.messageId],
      ['connection', sent.connectionId],
      ['state', 'on its way'],
    ])
    suggest('agent message list')
    return sent
  },
})
