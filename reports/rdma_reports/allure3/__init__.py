"""The pinned Allure 3 and its configuration; `rdma_reports.allure_report` runs it."""
