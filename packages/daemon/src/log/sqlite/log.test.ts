import { describeLog } from "../conformance.ts";
import { driver } from "./testing/driver.ts";

describeLog("SQLite", driver, new URL("./testing/driver.ts", import.meta.url).href);
