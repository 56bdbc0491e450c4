/**
 * `npm run bench` measures the agent next to other software or bare primitives in the same run. `-- --list`
 * lists the scenarios, `-- flows resolve` selects some, `-- all` runs all. `--quick` runs for half a minute.
 * `--json [FILE.json]` prints or stores the numbers, `--compare A.json B.json` compares two files, `--guard`
 * compares ratios with the recorded ones, `--record` records them. `-- way` counts work instead of timing it.
 * Exits with 1 on failures. With `BENCH_PROFILE`, a folder, daemons write CPU profiles there, and `--profile
 * FOLDER` sums them up. See docs/reference/benchmarks.md.
 */
import { writeFileSync } from 'node:fs'
import { compare, findRegressions, toComparison, tolerance } from './_compare.ts'
import { readOptions, usage, type Measuring } from './_options.ts'
import { readProfiles, toShareTable } from './_profile.ts'
import { apart, readRecorded, readRecordedCounts, record } from './_recorded.ts'
import { readResults, toHeading, toMarkdown, type Results } from './_results.ts'
import { run } from './_run.ts'
import { scenarios } from './_scenarios.ts'
import { advice, findGrown } from './way/_guard.ts'

const options = readOptions(process.argv.slice(2))
if ('problem' in options) {
  console.error(`${options.problem}\n\n${usage}`)
  process.exitCode = 2
} else if (options.does === 'list') {
  for (const { name, about, isLong, isApart } of scenarios)
    console.log(
      `${name.padEnd(26)} ${about}${isApart ? ' (only when it is named)' : isLong ? ' (when it is named, or `all`)' : ''}`,
    )
} else if (options.does === 'compare') {
  const [before, after] = [readResults(options.before), readResults(options.after)]
  console.log(
    `before: ${toHeading(before)}\nafter:  ${toHeading(after)}\n\n${toComparison(compare(before, after))}`,
  )
} else if (options.does === 'profile') {
  const { parts, functions } = readProfiles(options.folder)
  console.log(`${toShareTable('at work', parts)}\n\n${toShareTable('function', functions.slice(0, 40))}`)
} else {
  const { results, isHanging } = await run(options.scenarios, options.quick)
  report(results, options)
  if (results.failures.length > 0) process.exitCode = 1
  // A hanging scenario would keep the process alive.
  if (isHanging) process.exit(1)
}

function report(results: Results, { json, file, guard, isRecord }: Measuring): void {
  const text = `${JSON.stringify(results, null, 2)}\n`
  if (file) writeFileSync(file, text)
  if (json && !file) process.stdout.write(text)
  else console.log([toHeading(results), ...results.tables.map((table) => toMarkdown(table))].join('\n\n'))
  for (const failure of results.failures) console.error(failure)
  const { counted, timed } = apart(results)
  if (guard && timed) hold(timed)
  if (guard && counted) holdCounts(counted)
  if (isRecord) record(results)
}

/** Prints the counts of a full flow that have grown. */
function holdCounts({ tables }: Results): void {
  const grown = findGrown(readRecordedCounts().tables[0]!.rows, tables[0]!.rows)
  console.log(
    grown.length > 0
      ? `\n${grown.join('\n')}\n${advice}`
      : '\nNo count of a full flow has grown by more than 5 %.',
  )
  if (grown.length > 0) process.exitCode = 1
}

/** Prints the ratios that have become worse. */
function hold(results: Results): void {
  const recorded = readRecorded(results.quick)
  const worse = findRegressions(recorded, results)
  const than = `than ${tolerance} times the recorded ones (${recorded.date.slice(0, 10)}, ${recorded.revision})`
  console.log(
    worse.length > 0
      ? `\nRatios that are more ${than}:\n\n${toComparison(worse)}`
      : `\nNo ratio is more ${than}.`,
  )
  if (worse.length > 0) process.exitCode = 1
}
