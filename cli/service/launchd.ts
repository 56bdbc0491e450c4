/** Property lists of launchd (launchd.plist(5)). */
import { labelOf } from './commands.ts'
import { variablesOf, type Installed, type ServicePlan } from './plan.ts'

type Value = string | number | boolean | readonly Value[] | { readonly [key: string]: Value }

/**
 * Writes a property list. The daemon’s standard error is the log file of the data folder, which it rotates as
 * a daemon in the background does.
 */
export function renderPlist(plan: ServicePlan, dataDir: string): string {
  const { profile, command, settings, environment, secrets, runAs } = plan
  const args = Object.entries({ AGENT_PROFILE: profile, AGENT_DATA_DIR: dataDir, ...settings })
  const log = `${dataDir}/daemon.log`
  const content: Value = {
    Label: labelOf(plan.name),
    ProgramArguments: [...command, ...args.map(([key, value]) => `${key}=${value}`)],
    EnvironmentVariables: {
      ...environment,
      ...Object.fromEntries(secrets.map(({ variable, path }) => [variable, path])),
    },
    ...(runAs !== undefined && { UserName: runAs }),
    RunAtLoad: true,
    // After a crash, but not after `agent daemon stop`.
    KeepAlive: { SuccessfulExit: false },
    ThrottleInterval: 10,
    ExitTimeOut: 30,
    ProcessType: 'Adaptive',
    Umask: 0o077,
    SoftResourceLimits: { NumberOfFiles: 65_536, Core: 0 },
    HardResourceLimits: { NumberOfFiles: 65_536, Core: 0 },
    StandardOutPath: log,
    StandardErrorPath: log,
  }
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- Written by \`agent daemon install\`, which also replaces it. Variables: ${variablesOf(plan).join(' ')} -->
<plist version="1.0">
${render(content, '')}
</plist>
`
}

/** Parses a property list of this program; undefined for those of others. */
export function readOwnPlist(text: string): Installed | undefined {
  if (!text.includes('Written by `agent daemon install`')) return undefined
  const valueOf = (name: string) => {
    const [, value] = new RegExp(`<string>${name}=([^<]*)</string>`).exec(text) ?? []
    return value?.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
  }
  const [profile, dataDir] = [valueOf('AGENT_PROFILE'), valueOf('AGENT_DATA_DIR')]
  const [, variables = ''] = /Variables: (.*) -->/.exec(text) ?? []
  return profile && dataDir
    ? { profile, dataDir, variables: variables.split(' ').filter(Boolean) }
    : undefined
}

const escape = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

function render(value: Value, indent: string): string {
  const inner = `${indent}  `
  if (typeof value === 'string') return `${indent}<string>${escape(value)}</string>`
  if (typeof value === 'number') return `${indent}<integer>${value}</integer>`
  if (typeof value === 'boolean') return `${indent}<${value}/>`
  if (Array.isArray(value))
    return [`${indent}<array>`, ...value.map((each: Value) => render(each, inner)), `${indent}</array>`].join(
      '\n',
    )
  const entries = Object.entries(value as { readonly [key: string]: Value })
  const lines = entries.flatMap(([key, each]) => [`${inner}<key>${escape(key)}</key>`, render(each, inner)])
  return [`${indent}<dict>`, ...lines, `${indent}</dict>`].join('\n')
}
