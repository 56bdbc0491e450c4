/** `agent message send` */
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from '../../cli/base-command.ts'
import { readText } from '../../cli/input/files.ts'
import { whichConnection } from '../../cli/prompts/questions.ts'

export default class MessageSend extends AgentCommand {
  static override summary = 'Send a basic message over a connection'
  static override examples = [
    '<%= config.bin %> message send "See you at ten" --connection <id>',
    '<%= config.bin %> message send @notes.txt --connection <id>',
  ]
  static override args = {
    content: Args.string({
      required: true,
      ignoreStdin: true,
      description: 'what to say: text, @file, or @- for standard input',
    }),
  }
  static override flags = {
    connection: Flags.string({
      required: true,
      description: 'the connection: its id, the end of the id, or its label',
    }),
  }

  protected override readonly questions = { connection: whichConnection }

  async run() {
    const { args, flags } = await this.parse(MessageSend)
    const content = readText('content', args.content)
    const sent = await this.call('POST /messages', { body: { connectionId: flags.connection, content } })
    this.print(sent.messageId, [
      ['message', sent.messageId],
      ['connection', sent.connectionId],
      ['state', 'on its way'],
    ])
    this.suggest('agent message list')
    return sent
  }
}
