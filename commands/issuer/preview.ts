import { Readable } from 'node:stream'
import * as Flags from '@oclif/core/flags'
import { readCard } from '../../cli/card.ts'
import { defineCommand } from '../../cli/define-command.ts'
import { localeFlag, wantedLocales } from '../../cli/format/locale.ts'
import { idOf } from '../../cli/input/arguments.ts'
import { checkNewFile, writeNewFile } from '../../cli/input/files.ts'

export default defineCommand({
  summary: 'Show how wallets show a credential of an issuer',
  description:
    'In the language of the reader. The card is the SVG template of the configuration, with the labels of claims as their values, or it has the name, the colours and the logo.',
  examples: [
    'agent issuer preview <issuer id> --configuration Employee --locale de',
    'agent issuer preview <issuer id> --configuration Employee --output card.svg',
  ],
  args: idOf('issuer'),
  flags: {
    configuration: Flags.string({ required: true, description: 'credential configuration, by its whole id' }),
    locale: localeFlag,
    output: Flags.string({ char: 'o', description: 'new file of the card, as SVG' }),
  },
  async run(context) {
    const { args, flags, print } = context
    const { output } = flags
    if (output !== undefined) checkNewFile('output', output)
    const wanted = wantedLocales(flags.locale)
    const { svg, ...card } = await readCard(context, { issuerId: args.id, id: flags.configuration, wanted })
    if (output !== undefined)
      await writeNewFile('output', output, () => Promise.resolve(Readable.from([Buffer.from(svg)])))
    print(card.configurationId, [
      ['configuration', card.configurationId],
      ['language', card.locale],
      ['name', card.name],
      ['description', card.description],
      ['issuer', card.issuer],
      ['logo', card.logo],
      ['colours', card.colours && `${card.colours.textColor} on ${card.colours.backgroundColor}`],
      ...card.claims.map(({ path, label }): [string, unknown] => [`claim ${path}`, label]),
      ['file', output],
    ])
    return { ...card, ...(output !== undefined && { output }) }
  },
})
