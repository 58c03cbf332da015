import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.util.Base64;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FsShell;
import org.apache.hadoop.util.ToolRunner;

/**
 * Hadoop's FsShell for many commands in one JVM. A command is a line of stdin: its arguments, tab between them. The
 * answer is a line of stdout in JSON: {"ok": true, "result": {"status": n, "stdout": base64, "stderr": base64}}.
 * Properties of Hadoop are given as name=value on the command line.
 */
class FsShellSession {
  public static void main(String[] properties) throws Exception {
    Configuration configuration = new Configuration();
    for (String property : properties) {
      int at = property.indexOf('=');
      configuration.set(property.substring(0, at), property.substring(at + 1));
    }
    PrintStream answers = System.out;
    PrintStream log = System.err;
    BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
    for (String line = commands.readLine(); line != null; line = commands.readLine()) {
      ByteArrayOutputStream stdout = new ByteArrayOutputStream();
      ByteArrayOutputStream stderr = new ByteArrayOutputStream();
      System.setOut(new PrintStream(stdout, true, "UTF-8"));
      System.setErr(new PrintStream(stderr, true, "UTF-8"));
      int status;
      try {
        status = ToolRunner.run(configuration, new FsShell(), line.split("\t"));
      } finally {
        System.setErr(log);
      }
      answers.printf(
          "{\"ok\": true, \"result\": {\"status\": %d, \"stdout\": \"%s\", \"stderr\": \"%s\"}}%n",
          status, encode(stdout), encode(stderr));
      answers.flush();
    }
  }

  private static String encode(ByteArrayOutputStream text) {
    return Base64.getEncoder().encodeToString(text.toByteArray());
  }
}
