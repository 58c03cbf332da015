import { describe, test } from 'vitest'
import { pythonClient } from './setup/scenario-client.ts'

describe('Delta tables and polars', () => {
  const run = pythonClient('clients', 'tables_scenarios.py')

  test('a Delta table is written, appended to, changed, compacted, cleaned and overwritten', () =>
    run('delta_write_append_overwrite'))
  test('two writers that append at once lose no commit', () => run('delta_two_writers_at_once'))
  test('a commit that another one overtook is noticed', () => run('delta_lost_commit_is_noticed'))
  test('polars writes and scans Parquet and CSV', () => run('polars_parquet'))
})
