import { defineLocalCommand } from '../../cli/define-command.ts'
import { safeJson } from '../../cli/format/text.ts'

export default defineLocalCommand({
  summary: 'Print the JSON Schema of configuration files',
  description:
    'For editors, and for pipelines that check a file (JSON Schema 2020-12). The package has it as docs/reference/settings.schema.json. `agent config validate` also checks what a schema cannot.',
  examples: ['agent config schema >settings.schema.json'],
  async run({ log }) {
    const { configSchema } = await import('../../src/foundation/config/report.ts')
    const schema = configSchema()
    log(safeJson(schema))
    return schema
  },
})
